/// One picture of a GIF file, as its descriptor and the control block before it say.
struct GIFFrame: Sendable, Hashable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
    var isInterlaced: Bool
    /// Where the colours lie in the file; nil when the frame has none and neither has the file.
    var palette: Range<Int>?
    /// The number that means transparent.
    var transparentIndex: Int?
    /// What becomes of the frame after its time: 0 and 1 stay, 2 background, 3 what was there before.
    var disposal: Int
    /// In seconds, corrected.
    var duration: Double
    /// Where the compressed numbers begin: the byte with the code size.
    var dataOffset: Int

    /// Whether any pixel of such a canvas may be transparent.
    func hasAlpha(onCanvasOf width: Int, by height: Int) -> Bool {
        let covers = left == 0 && top == 0 && self.width >= width && self.height >= height
        return transparentIndex != nil || !covers
    }
}

/// The blocks of a GIF file, found by stepping over them; pixels are not looked at.
///
/// Anything that is no block ends the file, as in browsers: what came before is shown.
struct GIFStructure: Sendable {
    /// The logical screen; where the file says 0, what the first frame needs.
    private(set) var width = 0
    private(set) var height = 0
    private(set) var frames: [GIFFrame] = []
    /// What the file says, nil when it does not.
    private(set) var loopCount: Int?
    /// Whether the file has more frames than were read.
    private(set) var isCut = false

    private var globalPalette: Range<Int>?
    private var control = Control()

    private struct Control {
        var transparentIndex: Int?
        var disposal = 0
        var duration = FrameDuration.standard
    }

    /// Reads at most `frameLimit` frames.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when there is no header or no frame.
    init(_ bytes: UnsafeRawBufferPointer, frameLimit: Int) throws(WebImageError) {
        let reader = ByteReader(bytes)
        guard ImageFormat(detecting: bytes) == .gif, let width = reader.littleEndian16(6),
            let height = reader.littleEndian16(8), let flags = reader.byte(10)
        else { throw WebImageError(.badImageData, "not a GIF file") }
        self.width = width
        self.height = height
        var offset = 13
        if flags & 0x80 != 0 {
            globalPalette = Self.palette(at: offset, flags: flags, in: reader)
            offset += 3 << (Int(flags & 7) + 1)
        }
        readBlocks(reader, from: offset, frameLimit: max(frameLimit, 1))
        guard let first = frames.first else { throw WebImageError(.badImageData, "the GIF file has no picture") }
        if self.width == 0 { self.width = first.left + first.width }
        if self.height == 0 { self.height = first.top + first.height }
    }

    private static func palette(at offset: Int, flags: UInt8, in reader: ByteReader) -> Range<Int>? {
        let count = 3 << (Int(flags & 7) + 1)
        return reader.slice(offset, count) == nil ? nil : offset..<offset + count
    }

    private mutating func readBlocks(_ reader: ByteReader, from start: Int, frameLimit: Int) {
        var offset: Int? = start
        while let position = offset, let introducer = reader.byte(position) {
            switch introducer {
            case 0x21: offset = readExtension(reader, at: position)
            case 0x2C:
                guard frames.count < frameLimit else {
                    isCut = true
                    return
                }
                offset = readFrame(reader, at: position)
            default: return
            }
        }
    }

    /// The offset behind a chain of sub-blocks; nil when the file ends before.
    private static func skipSubBlocks(_ reader: ByteReader, at start: Int) -> Int? {
        var offset = start
        while let length = reader.byte(offset) {
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
        return nil
    }

    private mutating func readFrame(_ reader: ByteReader, at start: Int) -> Int? {
        guard let left = reader.littleEndian16(start + 1), let top = reader.littleEndian16(start + 3),
            let width = reader.littleEndian16(start + 5), let height = reader.littleEndian16(start + 7),
            let flags = reader.byte(start + 9)
        else { return nil }
        var offset = start + 10
        var palette = globalPalette
        if flags & 0x80 != 0 {
            palette = Self.palette(at: offset, flags: flags, in: reader)
            offset += 3 << (Int(flags & 7) + 1)
        }
        guard reader.byte(offset) != nil else { return nil }
        frames.append(
            GIFFrame(
                left: left,
                top: top,
                width: width,
                height: height,
                isInterlaced: flags & 0x40 != 0,
                palette: palette,
                transparentIndex: control.transparentIndex,
                disposal: control.disposal,
                duration: control.duration,
                dataOffset: offset
            )
        )
        control = Control()
        return Self.skipSubBlocks(reader, at: offset + 1)
    }

    private mutating func readExtension(_ reader: ByteReader, at start: Int) -> Int? {
        guard let label = reader.byte(start + 1), let length = reader.byte(start + 2) else { return nil }
        switch label {
        case 0xF9 where length >= 4: readControl(reader, at: start + 3)
        // A text would be drawn with the control block before it; nobody draws it.
        case 0x01: control = Control()
        case 0xFF where length == 11: readApplication(reader, at: start + 3)
        default: break
        }
        return Self.skipSubBlocks(reader, at: start + 2)
    }

    private mutating func readControl(_ reader: ByteReader, at offset: Int) {
        guard let flags = reader.byte(offset), let delay = reader.littleEndian16(offset + 1),
            let index = reader.byte(offset + 3)
        else { return }
        control.transparentIndex = flags & 1 != 0 ? Int(index) : nil
        control.disposal = Int(flags >> 2) & 7
        control.duration = FrameDuration.corrected(Double(delay) / 100)
    }

    private mutating func readApplication(_ reader: ByteReader, at offset: Int) {
        guard let name = reader.slice(offset, 11),
            name.elementsEqual("NETSCAPE2.0".utf8) || name.elementsEqual("ANIMEXTS1.0".utf8)
        else { return }
        var block = offset + 11
        while let length = reader.byte(block), length > 0 {
            if length >= 3, reader.byte(block + 1).map({ $0 & 7 }) == 1, let count = reader.littleEndian16(block + 2) {
                loopCount = count
            }
            block += 1 + Int(length)
        }
    }
}
