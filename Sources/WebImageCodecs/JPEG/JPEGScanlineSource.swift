import CJPEGShims
import CPixels
import FoundationEssentials

/// Decodes the rows of a JPEG on demand (all coefficients of a progressive image are read at the start).
final class JPEGScanlineSource: ScanlineSource {
    let width: Int
    let height: Int
    let extent: (width: Double, height: Double)
    let layout: ScanlineLayout
    let colorProfile: Data?
    private let decoder: OpaquePointer
    private let deadline: DecodeDeadline?

    /// - Parameters:
    ///   - bytes: must stay valid as long as the source lives.
    ///   - size: the size in the header.
    ///   - eighths: scales the image by `eighths` / 8 while decoding, 1...8.
    ///   - layout: `cmyk8` if and only if the image has four components.
    ///   - toleratesDamage: paint over damage; missing data is still an error.
    ///   - deadline: also checked between the rows of each scan.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``,
    ///   ``WebImageError/Code/decodeTimedOut``.
    init(
        _ bytes: UnsafeRawBufferPointer,
        size: (width: Int, height: Int),
        layout: ScanlineLayout,
        colorProfile: Data?,
        eighths: Int,
        maximumScanCount: Int,
        toleratesDamage: Bool = false,
        deadline: DecodeDeadline? = nil
    ) throws(WebImageError) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let decoder = webimage_jpeg_decoder_create(start, bytes.count) else {
            throw WebImageError(.outOfMemory, "no memory for a JPEG decoder")
        }
        let pixels: webimage_jpeg_pixels
        switch layout {
        case .gray8: pixels = webimage_jpeg_gray
        case .rgb8, .rgba8, .rgbaFloat: pixels = webimage_jpeg_rgb
        case .bgra8Premultiplied: pixels = webimage_jpeg_bgra
        case .cmyk8: pixels = webimage_jpeg_cmyk
        }
        var width: UInt32 = 0
        var height: UInt32 = 0
        let scans = UInt32(clamping: max(maximumScanCount, 0))
        if let deadline { webimage_jpeg_decoder_limit(decoder, deadline.nanoseconds) }
        if toleratesDamage { webimage_jpeg_decoder_tolerate_damage(decoder) }
        let status = webimage_jpeg_decoder_start(decoder, pixels, UInt32(eighths), scans, &width, &height)
        if let error = Self.error(status, decoder, maximumScanCount: maximumScanCount, deadline: deadline) {
            webimage_jpeg_decoder_free(decoder)
            throw error
        }
        // The plan and the checks are for the size in the header.
        let isAsPlanned = Int(width) == (size.width * eighths + 7) / 8 && Int(height) == (size.height * eighths + 7) / 8
        guard isAsPlanned else {
            webimage_jpeg_decoder_free(decoder)
            throw WebImageError(.badImageData, "the JPEG is damaged: its headers state different sizes")
        }
        self.decoder = decoder
        self.deadline = deadline
        self.layout = layout
        self.colorProfile = colorProfile
        self.width = Int(width)
        self.height = Int(height)
        extent = (Double(size.width * eighths) / 8, Double(size.height * eighths) / 8)
    }

    deinit { webimage_jpeg_decoder_free(decoder) }

    /// A Boolean value that indicates whether damaged data was painted over in the rows read so far.
    var isDamaged: Bool { webimage_jpeg_decoder_is_damaged(decoder) }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        let rows = base.assumingMemoryBound(to: UInt8.self)
        let status = webimage_jpeg_decoder_read(decoder, UInt32(count), rows, bytesPerRow)
        if let error = Self.error(status, decoder, maximumScanCount: 0, deadline: deadline) { throw error }
        guard layout == .cmyk8 else { return }
        // CMYK in JPEG has been stored inverted since Photoshop, with or without a marker of the program.
        for row in 0..<count { cpixels_invert(rows + row * bytesPerRow, width * 4) }
    }

    static func error(
        _ status: webimage_jpeg_status,
        _ decoder: OpaquePointer,
        maximumScanCount: Int,
        deadline: DecodeDeadline?
    ) -> WebImageError? {
        switch status {
        case webimage_jpeg_ok: return nil
        case webimage_jpeg_too_many_scans:
            return .limitExceeded("maximumScanCount", allowed: maximumScanCount, required: maximumScanCount + 1)
        case webimage_jpeg_too_late:
            return deadline?.error ?? WebImageError(.decodeTimedOut, "the image was not decoded in time")
        case webimage_jpeg_no_memory: return WebImageError(.outOfMemory, "no memory to decode a JPEG")
        default:
            let message = String(cString: webimage_jpeg_decoder_message(decoder))
            return WebImageError(.badImageData, "the JPEG is damaged: \(message)")
        }
    }
}
