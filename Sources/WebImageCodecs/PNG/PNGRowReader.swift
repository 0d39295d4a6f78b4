import CPNGShims
import CPixels
import FoundationEssentials

/// The rows of a PNG picture or of a frame of an animated one, decoded on demand; of an interlaced one after it was decoded as a
/// whole.
final class PNGRowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    /// What the embedded profile calls itself; also of one that is sRGB, for which ``colorProfile`` is nil.
    let profileName: String?
    let color: SourceColor?

    private var data: Data
    private let reader: OpaquePointer
    private let isInterlaced: Bool
    private var nextRow = 0
    /// All rows of an interlaced picture.
    private var whole: PixelStorage?
    private let limits: ImageLimits

    /// - Parameter frame: what to read in place of the picture of the file; not one that is that picture.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/outOfMemory``.
    ///
    /// - Parameter isWide: hand out what the file's 16 bits say.
    init(
        _ data: Data,
        header: PNGHeader,
        frame: PNGFrame? = nil,
        limits: ImageLimits,
        isWide: Bool = false
    ) throws(WebImageError) {
        // Both fit: the limits were checked against the header, whose numbers are 31 bits long.
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
                return webimage_png_read_header(reader, bytes.baseAddress, bytes.count, gamma, isWide, &info)
            }
            var place = webimage_png_frame(
                width: UInt32(clamping: frame.width),
                height: UInt32(clamping: frame.height),
                start: frame.chunks.lowerBound,
                end: frame.chunks.upperBound
            )
            return webimage_png_read_frame_header(reader, bytes.baseAddress, bytes.count, &place, gamma, isWide, &info)
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
            // Code points say more than a profile beside them.
            colorProfile = isWide ? nil : coded.makeProfile()
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
            throw WebImageError(.badImageData, "more rows were asked for than the picture has")
        }
        guard layout != .rgbaFloat else { return try readWideRows(count, into: base, bytesPerRow: bytesPerRow) }
        guard isInterlaced else { return try decode(count, into: base, bytesPerRow: bytesPerRow) }
        let rowBytes = storedRowBytes
        if whole == nil, count == height { return try decode(count, into: base, bytesPerRow: bytesPerRow) }
        let whole = try wholePicture()
        for row in 0..<count {
            (base + row * bytesPerRow).copyMemory(
                from: whole.base + (nextRow + row) * rowBytes,
                byteCount: rowBytes
            )
        }
        nextRow += count
    }

    /// Bytes of a row as libpng writes it.
    private var storedRowBytes: Int { width * (layout == .rgbaFloat ? 8 : layout.bytesPerPixel) }

    private func readWideRows(
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
                stored = try wholePicture().base + nextRow * storedRowBytes
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

    /// Interlaced rows come in seven passes over the whole picture, so it has to be in memory even for a thumbnail.
    private func wholePicture() throws(WebImageError) -> PixelStorage {
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

    /// What ``readAvailable(_:isWhole:into:)`` came to.
    enum Progress {
        /// Not all rows are there, or not what comes after them.
        case waits
        case isComplete
        /// The picture must be read as a whole, by another reader.
        case isStarved
    }

    /// Decodes the rows that there are bytes for into their places in a picture that is still arriving. Goes on where it stopped,
    /// and is used without ``readRows(_:into:bytesPerRow:)``.
    ///
    /// - Parameters:
    ///   - data: all bytes so far.
    ///   - isWhole: whether they are all there will be.
    func readAvailable(_ data: Data, isWhole: Bool, into picture: RawPicture) throws(WebImageError) -> Progress {
        self.data = Data()
        var rows: UInt32 = 0
        var isComplete = false
        let isRead = data.withUnsafeBytes { bytes in
            webimage_png_read_available(
                reader,
                bytes.baseAddress,
                bytes.count,
                isWhole,
                picture.base,
                picture.bytesPerRow,
                &rows,
                &isComplete
            )
        }
        guard isRead else {
            if webimage_png_is_starved(reader) { return .isStarved }
            throw Self.error(of: reader)
        }
        picture.rowCount = Int(rows)
        return isComplete ? .isComplete : .waits
    }
}
