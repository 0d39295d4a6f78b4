/// The contents of a Windows or OS/2 bitmap's headers: sizes, masks, and the locations of palette, pixels and profile.
package struct BMPHeader: Sendable {
    enum Compression: Sendable { case none, runs4, runs8, runs24, jpeg, png }

    private(set) var width = 0
    private(set) var height = 0
    private(set) var isTopDown = false
    private(set) var bitsPerPixel = 0
    private(set) var compression = Compression.none
    /// The masks of red, green, blue and alpha for pixels of 16 and 32 bits.
    private(set) var masks: [BMPMask] = []
    /// The location of the palette, with 3 or 4 bytes for each colour.
    private(set) var palette = 0..<0
    private(set) var bytesPerColor = 4
    /// The offset of the first pixel.
    private(set) var pixelOffset = 0
    /// The location of the embedded ICC profile.
    private(set) var profile: Range<Int>?
    /// The number of bytes of the information header.
    private let size: Int

    /// A Boolean value that indicates whether masks give the pixels an alpha.
    var hasAlphaMask: Bool { masks.count == 4 && masks[3].bits != 0 }

    /// The number of bytes from the start of one row to the next, without compression.
    var bytesPerRow: Int { (width * bitsPerPixel + 31) / 32 * 4 }

    /// The known sizes of information headers.
    private static let sizes = [12, 16, 40, 52, 56, 64, 108, 124]

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - bytes: a file, or the data of an icon's directory entry.
    ///   - isIconEntry: the data has no file header, and its header states twice the image's height.
    /// - Throws: ``WebImageError/Code/badImageData``.
    init(_ bytes: UnsafeRawBufferPointer, isIconEntry: Bool = false) throws(WebImageError) {
        let reader = ByteReader(bytes)
        let start = isIconEntry ? 0 : 14
        guard isIconEntry || bytes.starts(with: "BM".utf8), let size = reader.littleEndian32(start),
            Self.sizes.contains(Int(size)), reader.slice(start, Int(size)) != nil
        else { throw Self.error("it has no header") }
        self.size = Int(size)
        try readSize(reader, start, isIconEntry: isIconEntry)
        try readCompression(reader, start, isIconEntry: isIconEntry)
        try readMasks(reader, start)
        let end = start + self.size + separateMaskBytes(reader, start)
        try readOffsets(reader, end, isIconEntry: isIconEntry)
        if self.size == 124 { readProfile(reader, start) }
    }

    static func error(_ reason: String) -> WebImageError {
        WebImageError(.badImageData, "the BMP is damaged: \(reason)")
    }

    private mutating func readSize(_ reader: ByteReader, _ start: Int, isIconEntry: Bool) throws(WebImageError) {
        let depth: Int?
        if size == 12 {
            width = reader.littleEndian16(start + 4) ?? 0
            height = reader.littleEndian16(start + 6) ?? 0
            depth = reader.littleEndian16(start + 10)
            bytesPerColor = 3
        } else {
            width = reader.littleEndian32(start + 4).map { Int(Int32(bitPattern: $0)) } ?? 0
            height = reader.littleEndian32(start + 8).map { Int(Int32(bitPattern: $0)) } ?? 0
            isTopDown = height < 0
            height = abs(height)
            depth = reader.littleEndian16(start + 14)
        }
        bitsPerPixel = depth ?? 0
        if isIconEntry { height /= 2 }
        guard width > 0, height > 0 else { throw Self.error("invalid size \(width)x\(height)") }
    }

    private mutating func readCompression(
        _ reader: ByteReader,
        _ start: Int,
        isIconEntry: Bool
    ) throws(WebImageError) {
        let number = size > 16 ? reader.littleEndian32(start + 16) ?? 0 : 0
        let isOS2 = size == 64
        switch (number, bitsPerPixel) {
        case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32): compression = .none
        case (1, 8) where !isIconEntry: compression = .runs8
        case (2, 4) where !isIconEntry: compression = .runs4
        case (4, 24) where isOS2 && !isIconEntry: compression = .runs24
        case (3, 16) where !isOS2, (3, 32) where !isOS2, (6, 16) where !isOS2, (6, 32) where !isOS2:
            compression = .none
        case (4, _) where !isOS2 && !isIconEntry: compression = .jpeg
        case (5, _) where !isOS2 && !isIconEntry: compression = .png
        default: throw Self.error("unsupported compression \(number) with \(bitsPerPixel) bits per pixel")
        }
    }

    private func usesMasks(_ reader: ByteReader, _ start: Int) -> Bool {
        guard size > 16, size != 64, let number = reader.littleEndian32(start + 16) else { return false }
        return number == 3 || number == 6
    }

    /// Returns the number of bytes of masks that follow the shortest header that can have them.
    private func separateMaskBytes(_ reader: ByteReader, _ start: Int) -> Int {
        guard size == 40, usesMasks(reader, start) else { return 0 }
        return reader.littleEndian32(start + 16) == 6 ? 16 : 12
    }

    private mutating func readMasks(_ reader: ByteReader, _ start: Int) throws(WebImageError) {
        guard compression == .none, bitsPerPixel == 16 || bitsPerPixel == 32 else { return }
        guard usesMasks(reader, start) else {
            let standard: [UInt32] = bitsPerPixel == 16 ? [0x7C00, 0x3E0, 0x1F] : [0xFF0000, 0xFF00, 0xFF]
            masks = standard.map { BMPMask($0) }
            return
        }
        let count = size == 40 ? separateMaskBytes(reader, start) / 4 : size == 52 ? 3 : 4
        for index in 0..<count {
            guard let mask = reader.littleEndian32(start + 40 + 4 * index) else { throw Self.error("missing masks") }
            masks.append(BMPMask(bitsPerPixel == 16 ? mask & 0xFFFF : mask))
        }
    }

    /// Locates palette and pixels. A palette may have fewer colours than the pixels could index, or more; pixels may begin before its end. A number
    /// of colours that does not fit into the file is invalid and ignored.
    private mutating func readOffsets(_ reader: ByteReader, _ end: Int, isIconEntry: Bool) throws(WebImageError) {
        let start = isIconEntry ? 0 : 14
        var stated = isIconEntry ? 0 : Int(reader.littleEndian32(10) ?? 0)
        let used = size >= 40 ? Int(reader.littleEndian32(start + 32) ?? 0) : 0
        var colors = used
        if bitsPerPixel <= 8, compression != .jpeg, compression != .png {
            let most = 1 << bitsPerPixel
            // Some programs state the start of the palette as the start of the pixels.
            if stated == end, hasRoom(for: used == 0 ? most : used, at: end, in: reader, isStated: false) { stated = 0 }
            colors = used == 0 || !hasRoom(for: used, at: end, in: reader, isStated: stated != 0) ? most : used
            // Without a valid number of colours, the palette has as many as fit.
            if stated > end, colors != used { colors = min(colors, (stated - end) / bytesPerColor) }
            guard colors <= reader.count / bytesPerColor, end + colors * bytesPerColor <= reader.count else {
                throw Self.error("invalid palette of \(colors) colours")
            }
        } else if !hasRoom(for: used, at: end, in: reader, isStated: stated != 0) {
            // Colours for displays with a palette; pixels do not refer to them.
            colors = 0
        }
        palette = end..<end + min(colors, 256) * bytesPerColor
        pixelOffset = stated == 0 ? end + colors * bytesPerColor : stated
        guard pixelOffset >= end, pixelOffset <= reader.count else {
            throw Self.error("its pixels are outside the file")
        }
    }

    /// Returns whether that many colours fit into the file, together with the pixels after them if their offset is not stated.
    private func hasRoom(for colors: Int, at offset: Int, in reader: ByteReader, isStated: Bool) -> Bool {
        guard colors <= 65_536, offset + colors * bytesPerColor <= reader.count else { return false }
        guard !isStated, compression == .none else { return true }
        let (pixels, overflow) = bytesPerRow.multipliedReportingOverflow(by: height - 1)
        let last = (width * bitsPerPixel + 7) / 8
        return overflow || pixels + last <= reader.count - offset - colors * bytesPerColor
    }

    private mutating func readProfile(_ reader: ByteReader, _ start: Int) {
        guard reader.littleEndian32(start + 56) == fourCC("MBED"), let offset = reader.littleEndian32(start + 112),
            let length = reader.littleEndian32(start + 116), length > 0,
            reader.slice(start + Int(offset), Int(length)) != nil
        else { return }
        profile = start + Int(offset)..<start + Int(offset) + Int(length)
    }
}
