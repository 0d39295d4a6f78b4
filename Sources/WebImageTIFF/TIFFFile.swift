import CTIFFShims
import FoundationEssentials
import WebImageCodecs

/// A TIFF file in memory with its first image, and the contents of its directory.
final class TIFFFile {
    let info: webimage_tiff_info
    let reader: OpaquePointer

    /// - Parameters:
    ///   - bytes: must stay valid as long as the file lives.
    ///   - directory: the offset of another image's directory; 0 for the first image.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``;
    ///   ``WebImageError/Code/unsupportedFormat`` for a compression that is not one of ``compressions``.
    init(
        _ bytes: UnsafeRawBufferPointer,
        limits: ImageLimits,
        directory: Int = 0
    ) throws(WebImageError) {
        guard ImageFormat(detecting: bytes) == .tiff else { throw WebImageError(.badImageData, "not a TIFF file") }
        // libtiff allocates in proportion to the file and the image, plus a small constant.
        let largest = max(limits.maximumDecodedByteCount, 1 << 20)
        guard let reader = webimage_tiff_open(bytes.baseAddress, bytes.count, largest) else {
            throw WebImageError(.outOfMemory, "no memory to decode TIFF")
        }
        var info = webimage_tiff_info()
        let isSelected = directory == 0 || webimage_tiff_select(reader, UInt64(directory))
        guard isSelected, webimage_tiff_read_info(reader, &info) else {
            let error = Self.error(of: reader, limits)
            webimage_tiff_close(reader)
            throw error
        }
        guard Self.compressions.contains(info.compression) else {
            webimage_tiff_close(reader)
            throw WebImageError(.unsupportedFormat, "TIFF compression \(info.compression) is not supported")
        }
        self.reader = reader
        self.info = info
    }

    /// The supported compressions: none, fax (2, 3, 4, 32771), LZW, JPEG of both kinds, Deflate (8, 32946), NeXT, PackBits, ThunderScan, PixarLog,
    /// LogLuv (34676, 34677), LERC, LZMA, Zstandard, WebP. Others are not passed to libtiff even if it supports them: JBIG (34661) reads a size from
    /// the strip itself and allocates unlimited memory for it, or ends the process.
    private static let compressions: Set<UInt16> = [
        1, 2, 3, 4, 5, 6, 7, 8, 32766, 32771, 32773, 32809, 32909, 32946, 34676, 34677, 34887, 34925, 50000, 50001,
    ]

    deinit { webimage_tiff_close(reader) }

    /// Returns the error of the last failed call.
    static func error(of reader: OpaquePointer, _ limits: ImageLimits) -> WebImageError {
        let message = String(cString: webimage_tiff_error(reader))
        if message.contains("beyond the"), message.contains("byte limit") {
            let digits = message.drop { !$0.isNumber }.prefix { $0.isNumber }
            return .limitExceeded(
                "maximumDecodedByteCount",
                allowed: limits.maximumDecodedByteCount,
                required: Int(digits) ?? .max
            )
        }
        return WebImageError(.badImageData, "the TIFF file is damaged: \(message)")
    }

    var width: Int { Int(info.width) }
    var height: Int { Int(info.height) }

    /// Returns the embedded ICC profile, unless it is longer than the limit.
    func colorProfile(_ limits: ImageLimits) -> Data? {
        guard let icc = info.icc, info.icc_length <= limits.maximumColorProfileByteCount else { return nil }
        return Data(bytes: icc, count: info.icc_length)
    }
}

/// Counts the pages of a file, from directory to directory.
enum TIFFPages {
    /// The maximum page count; further pages are not counted.
    static let most = 65_535

    /// Returns the number of pages, at least 1. A broken or circular chain of directories ends the count.
    static func count(_ bytes: UnsafeRawBufferPointer) -> Int {
        let reader = TIFFNumbers(ByteReader(bytes))
        var offset = reader.isBig ? reader.number64(8) : reader.number32(4)
        var seen: Set<Int> = []
        while let place = offset, place > 0, seen.count < most, seen.insert(place).inserted {
            offset = nextDirectory(after: place, reader)
            // An incomplete directory is not a page.
            if offset == nil { seen.remove(place) }
        }
        return max(seen.count, 1)
    }

    private static func nextDirectory(after place: Int, _ reader: TIFFNumbers) -> Int? {
        guard let count = reader.isBig ? reader.number64(place) : reader.number16(place),
            count <= reader.bytes.count / 12
        else { return nil }
        return reader.isBig ? reader.number64(place + 8 + 20 * count) : reader.number32(place + 2 + 12 * count)
    }
}

/// Reads numbers in the file's byte order.
struct TIFFNumbers {
    let bytes: ByteReader
    let isLittle: Bool
    let isBig: Bool

    init(_ bytes: ByteReader) {
        self.bytes = bytes
        isLittle = bytes.byte(0) == UInt8(ascii: "I")
        isBig = bytes.byte(isLittle ? 2 : 3) == 0x2B
    }

    func number16(_ offset: Int) -> Int? { isLittle ? bytes.littleEndian16(offset) : bytes.bigEndian16(offset) }

    func number32(_ offset: Int) -> Int? {
        (isLittle ? bytes.littleEndian32(offset) : bytes.bigEndian32(offset)).map(Int.init)
    }

    /// Returns nil also for a value beyond any file size.
    func number64(_ offset: Int) -> Int? {
        guard let first = number32(offset), let second = number32(offset + 4) else { return nil }
        let (high, low) = isLittle ? (second, first) : (first, second)
        return high == 0 ? low : nil
    }
}
