import CPNGShims
import CPixels
import FoundationEssentials

/// Reads the rows of a PNG image or of a frame of an animation, decoded on demand; interlaced images are first decoded as a whole.
final class PNGRowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    /// The name in the embedded profile; also for an sRGB profile, for which ``colorProfile`` is nil.
    let profileName: String?
    let color: SourceColor?

    private var data: Data
    private let reader: OpaquePointer
    private let isInterlaced: Bool
    private var nextRow = 0
    /// All rows of an interlaced image.
    private var whole: PixelStorage?
    private let limits: ImageLimits

    /// - Parameters:
    ///   - frame: the frame to read in place of the default image; not one that is that image.
    ///   - isHighBitDepth: return all 16 bits of the file.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/outOfMemory``.
    init(
        _ data: Data,
        header: PNGHeader,
        frame: PNGFrame? = nil,
        limits: ImageLimits,
        isHighBitDepth: Bool = false
    ) throws(WebImageError) {
        // No clamping happens: the limits were checked against the header, whose numbers have 31 bits.
        let reader = webimage_png_reader_create(
            UInt32(clamping: frame?.width ?? header.width),
            UInt32(clamping: frame?.height ?? header.height),
            max(limits.maximumColorProfileByteCount, 1)
        )
        guard let reader else { throw WebImageError(.outOfMemory, "no memory to decode PNG") }
        var info = webimage_png_info()
        let gamma = header.color.decoderGamma(isGray: header.isGray) ?? 0
        let isRead = data.withUnsafeBytes { bytes in
            guard let frame else {
                return webimage_png_read_header(reader, bytes.baseAddress, bytes.count, gamma, isHighBitDepth, &info)
            }
            var place = webimage_png_frame(
                width: UInt32(clamping: frame.width),
                height: UInt32(clamping: frame.height),
                start: frame.chunks.lowerBound,
                end: frame.chunks.upperBound
            )
            return webimage_png_read_frame_header(
                reader,
                bytes.baseAddress,
                bytes.count,
                &place,
                gamma,
                isHighBitDepth,
                &info
            )
        }
        guard isRead else {
            let error = Self.error(of: reader)
            webimage_png_reader_destroy(reader)
            throw error
        }
        self.data = data
        self.reader = reader
        self.limits = limits
        width = Int(info.width)
        height = Int(info.height)
        isInterlaced = info.interlaced
        layout =
            switch info.layout {
            case WEBIMAGE_PNG_GRAY: .gray8
            case WEBIMAGE_PNG_RGB: .rgb8
            case WEBIMAGE_PNG_RGBA16: .rgbaFloat
            default: .rgba8
            }
        let embedded = info.icc.map { Data(bytes: $0, count: info.icc_length) }
        profileName = embedded.flatMap { ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount) }
        color = header.color.coded
        if let coded = header.color.coded {
            // Code points have precedence over a profile.
            colorProfile = isHighBitDepth ? nil : coded.makeProfile()
        } else {
            colorProfile = info.is_srgb ? nil : embedded ?? header.color.makeProfile(isGray: header.isGray)
        }
    }

    deinit { webimage_png_reader_destroy(reader) }

    private static func error(of reader: OpaquePointer) -> WebImageError {
        let message = "PNG: " + String(cString: webimage_png_error(reader))
        return WebImageError(webimage_png_out_of_memory(reader) ? .outOfMemory : .badImageData, message)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        guard layout != .rgbaFloat else { return try readHighBitDepthRows(count, into: base, bytesPerRow: bytesPerRow) }
        guard isInterlaced else { return try decode(count, into: base, bytesPerRow: bytesPerRow) }
        let rowBytes = storedRowBytes
        if whole == nil, count == height { return try decode(count, into: base, bytesPerRow: bytesPerRow) }
        let whole = try wholeImage()
        for row in 0..<count {
            (base + row * bytesPerRow).copyMemory(
                from: whole.base + (nextRow + row) * rowBytes,
                byteCount: rowBytes
            )
        }
        nextRow += count
    }

    /// The number of bytes of a row as libpng writes it.
    private var storedRowBytes: Int { width * (layout == .rgbaFloat ? 8 : layout.bytesPerPixel) }

    private func readHighBitDepthRows(
        _ count: Int,
        into base: UnsafeMutableRawPointer,
        bytesPerRow: Int
    ) throws(WebImageError) {
        let scratch = isInterlaced ? nil : try ScratchBuffer(byteCount: storedRowBytes)
        for row in 0..<count {
            let stored: UnsafeMutableRawPointer
            if let scratch {
                try decode(1, into: scratch.base, bytesPerRow: storedRowBytes)
                stored = scratch.base
            } else {
                stored = try wholeImage().base + nextRow * storedRowBytes
                nextRow += 1
            }
            let floats = (base + row * bytesPerRow).assumingMemoryBound(to: Float.self)
            cpixels_shorts_to_floats(stored.assumingMemoryBound(to: UInt16.self), floats, width * 4, 65_535)
        }
    }

    private func decode(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        let isRead = data.withUnsafeBytes {
            webimage_png_read_rows(reader, $0.baseAddress, $0.count, base, bytesPerRow, UInt32(count))
        }
        guard isRead else { throw Self.error(of: reader) }
        if !isInterlaced || count == height { nextRow += count }
    }

    /// Interlaced rows are stored in seven passes over the whole image, so it has to be in memory even for a thumbnail.
    private func wholeImage() throws(WebImageError) -> PixelStorage {
        if let whole { return whole }
        let rowBytes = storedRowBytes
        let byteCount = rowBytes * height
        try limits.check(decodedByteCount: byteCount)
        let storage = try PixelStorage.allocate(byteCount: byteCount)
        let isRead = data.withUnsafeBytes {
            webimage_png_read_rows(reader, $0.baseAddress, $0.count, storage.base, rowBytes, UInt32(height))
        }
        guard isRead else { throw Self.error(of: reader) }
        whole = storage
        return storage
    }

    /// The result of ``readAvailable(_:isWhole:hasAllPixels:into:)``.
    enum Progress {
        /// Rows, or the chunks after them, are missing.
        case waits
        case isComplete
        /// The image must be decoded from the complete data, by another reader.
        case isStarved
    }

    /// Decodes the available rows to their places in an incrementally decoded image, continuing after those of the last call. Cannot be combined with
    /// ``readRows(_:into:bytesPerRow:)``.
    ///
    /// - Parameters:
    ///   - data: all bytes so far.
    ///   - isWhole: the bytes are complete.
    ///   - hasAllPixels: the chunks of pixels are complete, and a chunk follows them.
    func readAvailable(
        _ data: Data,
        isWhole: Bool,
        hasAllPixels: Bool,
        into buffer: RowBuffer
    ) throws(WebImageError) -> Progress {
        self.data = Data()
        var rows: UInt32 = 0
        var isComplete = false
        let isRead = data.withUnsafeBytes { bytes in
            webimage_png_read_available(
                reader,
                bytes.baseAddress,
                bytes.count,
                isWhole,
                hasAllPixels,
                buffer.base,
                buffer.bytesPerRow,
                &rows,
                &isComplete
            )
        }
        guard isRead else {
            if webimage_png_is_starved(reader) { return .isStarved }
            throw Self.error(of: reader)
        }
        buffer.rowCount = Int(rows)
        return isComplete ? .isComplete : .waits
    }
}
