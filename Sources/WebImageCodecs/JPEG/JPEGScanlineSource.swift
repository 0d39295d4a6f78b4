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
    private let header: JPEGHeader
    private let bytes: UnsafeRawBufferPointer
    private let settings: Settings
    /// The header with the height of the rows that are left, if decoding begins at a restart marker.
    private let changedHeader: ScratchBuffer?
    private var bands: Bands?
    private var hasSearchedRestarts = false

    /// Shared by the sources of an image's bands.
    private final class Bands: Sendable {
        let restarts: JPEGRestarts
        /// True once damage was painted over.
        let isDamaged = Lock(false)

        init(_ restarts: JPEGRestarts) { self.restarts = restarts }
    }

    /// How rows are decoded.
    struct Settings {
        /// `cmyk8` if and only if the image has four components.
        var layout: ScanlineLayout
        var colorProfile: Data?
        /// Scales the image by `eighths` / 8 while decoding, 1...8.
        var eighths: Int
        var maximumScanCount: Int
        /// Paint over damage; missing data is still an error.
        var toleratesDamage = false
        /// Also checked between the rows of each scan.
        var deadline: DecodeDeadline?
    }

    /// - Parameter bytes: must stay valid as long as the source lives.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``,
    ///   ``WebImageError/Code/decodeTimedOut``.
    convenience init(
        _ bytes: UnsafeRawBufferPointer,
        _ header: JPEGHeader,
        _ settings: Settings
    ) throws(WebImageError) {
        try self.init(bytes, header, settings, from: (0, 0), bands: nil)
    }

    private init(
        _ bytes: UnsafeRawBufferPointer,
        _ header: JPEGHeader,
        _ settings: Settings,
        from place: (offset: Int, row: Int),
        bands: Bands?
    ) throws(WebImageError) {
        let height = header.frame.height - place.row
        let changedHeader = try place.row > 0 ? Self.header(bytes, header, height: height) : nil
        decoder = try Self.makeDecoder(bytes, settings, changedHeader, header.scanStart, place.offset)
        (self.bytes, self.header, self.settings, self.bands) = (bytes, header, settings, bands)
        self.changedHeader = changedHeader
        (layout, colorProfile) = (settings.layout, settings.colorProfile)
        let size = (width: header.frame.width, height: height)
        do throws(WebImageError) {
            (width, self.height) = try Self.start(decoder, settings, size)
        } catch {
            webimage_jpeg_decoder_free(decoder)
            throw error
        }
        extent = (Double(size.width * settings.eighths) / 8, Double(size.height * settings.eighths) / 8)
    }

    deinit { webimage_jpeg_decoder_free(decoder) }

    private static func header(
        _ bytes: UnsafeRawBufferPointer,
        _ header: JPEGHeader,
        height: Int
    ) throws(WebImageError) -> ScratchBuffer {
        let copy = try ScratchBuffer(byteCount: header.scanStart)
        copy.base.copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(copy.base), byteCount: header.scanStart)
        copy.bytes[header.frame.heightOffset] = UInt8(height >> 8 & 255)
        copy.bytes[header.frame.heightOffset + 1] = UInt8(height & 255)
        return copy
    }

    private static func makeDecoder(
        _ bytes: UnsafeRawBufferPointer,
        _ settings: Settings,
        _ changedHeader: ScratchBuffer?,
        _ headerCount: Int,
        _ offset: Int
    ) throws(WebImageError) -> OpaquePointer {
        let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let start = changedHeader.map { UnsafePointer($0.bytes) } ?? data
        guard let decoder = webimage_jpeg_decoder_create(start, changedHeader == nil ? bytes.count : headerCount) else {
            throw WebImageError(.outOfMemory, "no memory for a JPEG decoder")
        }
        if changedHeader != nil, let data {
            webimage_jpeg_decoder_append(decoder, data + offset, bytes.count - offset)
        }
        if let deadline = settings.deadline { webimage_jpeg_decoder_limit(decoder, deadline.nanoseconds) }
        if settings.toleratesDamage { webimage_jpeg_decoder_tolerate_damage(decoder) }
        return decoder
    }

    /// Removes the deadline, which then has only limited the time of the scans that were read at the start.
    func removeDeadline() { webimage_jpeg_decoder_limit(decoder, 0) }

    /// Returns the size of the rows.
    private static func start(
        _ decoder: OpaquePointer,
        _ settings: Settings,
        _ size: (width: Int, height: Int)
    ) throws(WebImageError) -> (width: Int, height: Int) {
        let pixels: webimage_jpeg_pixels
        switch settings.layout {
        case .gray8: pixels = webimage_jpeg_gray
        case .rgb8, .rgba8, .rgbaFloat: pixels = webimage_jpeg_rgb
        case .bgra8Premultiplied: pixels = webimage_jpeg_bgra
        case .cmyk8: pixels = webimage_jpeg_cmyk
        }
        var (width, height) = (UInt32(0), UInt32(0))
        let (eighths, most) = (settings.eighths, settings.maximumScanCount)
        let scans = UInt32(clamping: max(most, 0))
        let status = webimage_jpeg_decoder_start(decoder, pixels, UInt32(eighths), scans, &width, &height)
        if let error = error(status, decoder, maximumScanCount: most, deadline: settings.deadline) { throw error }
        // The plan and the checks are for the size in the header.
        guard Int(width) == (size.width * eighths + 7) / 8, Int(height) == (size.height * eighths + 7) / 8 else {
            throw WebImageError(.badImageData, "the JPEG is damaged: its headers state different sizes")
        }
        return (Int(width), Int(height))
    }

    /// A Boolean value that indicates whether damaged data was painted over in the rows read so far.
    var isDamaged: Bool { webimage_jpeg_decoder_is_damaged(decoder) || bands?.isDamaged.withLock { $0 } ?? false }

    var decodedPixelCount: Int { header.frame.width * header.frame.height }

    /// True if the image has restart markers at the starts of rows of blocks. Cost: the first time, a search for the markers.
    var isRandomAccess: Bool {
        if !hasSearchedRestarts { bands = JPEGRestarts(header, bytes).map { Bands($0) } }
        hasSearchedRestarts = true
        return bands != nil
    }

    func source(from row: Int) throws(WebImageError) -> any ScanlineSource {
        guard let bands else { return self }
        let place = bands.restarts.place(before: row * 8 / settings.eighths)
        let source = try JPEGScanlineSource(bytes, header, settings, from: place, bands: bands)
        // Rows between the marker and the one that is wanted.
        let skipped = row - place.row * settings.eighths / 8
        let scratch = try ScratchBuffer(byteCount: source.width * layout.bytesPerPixel)
        for _ in 0..<skipped { try source.readRows(1, into: scratch.base, bytesPerRow: 0) }
        return source
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        let rows = base.assumingMemoryBound(to: UInt8.self)
        let status = webimage_jpeg_decoder_read(decoder, UInt32(count), rows, bytesPerRow)
        if let error = Self.error(status, decoder, maximumScanCount: 0, deadline: settings.deadline) { throw error }
        if let bands, webimage_jpeg_decoder_is_damaged(decoder) { bands.isDamaged.withLock { $0 = true } }
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
