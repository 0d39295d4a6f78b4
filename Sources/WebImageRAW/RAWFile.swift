import CRAWShims
import FoundationEssentials
import WebImageCodecs

/// A camera's raw file in memory, whose header LibRaw has read. For one thread at a time.
final class RAWFile {
    let bytes: UnsafeRawBufferPointer
    let info: webimage_raw_info
    private let raw: OpaquePointer

    /// Limits of pixels are not checked: they apply to the preview, or to the developed image.
    ///
    /// - Parameter bytes: must stay valid as long as the file lives.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/decodeTimedOut``.
    init(_ bytes: UnsafeRawBufferPointer, deadline: DecodeDeadline?) throws(WebImageError) {
        guard ImageFormat(detecting: bytes) == .raw else { throw WebImageError(.badImageData, "not a raw file") }
        var info = webimage_raw_info()
        var (status, message) = (webimage_raw_ok, UnsafePointer<CChar>?.none)
        let latest = deadline?.nanoseconds ?? 0
        guard let raw = webimage_raw_open(bytes.baseAddress, bytes.count, latest, &info, &status, &message) else {
            try deadline?.check()
            // LibRaw does not distinguish files of unknown cameras from damaged ones.
            throw Self.error(status == webimage_raw_unsupported ? webimage_raw_damaged : status, message)
        }
        (self.bytes, self.info, self.raw) = (bytes, info, raw)
        try deadline?.check()
        guard info.width > 0, info.height > 0 else {
            throw WebImageError(.badImageData, "the image has 0 pixels (\(info.width)x\(info.height))")
        }
    }

    deinit { webimage_raw_close(raw) }

    /// The properties of the developed image.
    var properties: ImageProperties {
        var properties = ImageProperties(format: .raw, width: Int(info.width), height: Int(info.height))
        properties.orientation = ImageOrientation(exif: Int(info.orientation))
        properties.bitsPerComponent = Int(info.bits)
        return properties
    }

    /// The part of the file that LibRaw takes for the largest preview; nil without one. LibRaw knows the notes of many cameras.
    var statedPreview: UnsafeRawBufferPointer? {
        guard info.preview_bytes > 0, let offset = Int(exactly: info.preview_offset), offset > 0 else { return nil }
        return ByteReader(bytes).slice(offset, Int(info.preview_bytes))
    }

    /// Develops the raw data. The pixels are valid until the next call.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/decodeTimedOut``.
    func develop(
        isHalf: Bool,
        bits: UInt32,
        limits: ImageLimits,
        deadline: DecodeDeadline?
    ) throws(WebImageError) -> webimage_raw_pixels {
        guard DecodingPlace.isWorker || !isDevelopedInParallel else {
            throw WebImageError(.unsupportedFormat, "RAF and CR3 are developed only in worker processes")
        }
        guard DNGSensorData.isComplete(in: bytes) else {
            throw WebImageError(.badImageData, "the raw file ends before its raw data")
        }
        var (pixels, message) = (webimage_raw_pixels(), UnsafePointer<CChar>?.none)
        let memory = max(limits.maximumDecodedByteCount, 0)
        let status = webimage_raw_develop(raw, isHalf, bits, memory, deadline?.nanoseconds ?? 0, &pixels, &message)
        guard status == webimage_raw_ok else {
            if status == webimage_raw_too_late { try deadline?.check() }
            if status == webimage_raw_too_big {
                throw .limitExceeded("maximumDecodedByteCount", allowed: memory, required: max(memory, memory &+ 1))
            }
            throw Self.error(status, message)
        }
        return pixels
    }

    /// Indicates whether LibRaw decodes the raw data in parallel loops: an error in one of them, of damaged data, ends the process.
    private var isDevelopedInParallel: Bool {
        bytes.starts(with: "FUJIFILM".utf8) || bytes.dropFirst(4).starts(with: "ftypcrx ".utf8)
    }

    private static func error(_ status: webimage_raw_status, _ message: UnsafePointer<CChar>?) -> WebImageError {
        let text = message.map { String(cString: $0) } ?? ""
        switch status {
        case webimage_raw_no_memory: return WebImageError(.outOfMemory, "no memory to decode a raw file")
        case webimage_raw_unsupported: return WebImageError(.unsupportedFormat, "the raw data is of an unknown kind")
        case webimage_raw_too_late: return WebImageError(.decodeTimedOut, "the raw file was not decoded in time")
        default: return WebImageError(.badImageData, "the raw file is damaged, or of an unknown camera: \(text)")
        }
    }
}
