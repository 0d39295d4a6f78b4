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
package struct GIFStructure: Sendable {
    /// The logical screen; where the file says 0, what the first frame needs.
    private(set) var width = 0
    private(set) var height = 0
    private(set) var frames: [GIFFrame] = []
    /// What the file says, nil when it does not.
    private(set) var loopCount: Int?
    /// Whether the file has more frames than were read.
    private(set) var isCut = false

    /// Frames whose pixels are there to the end.
    private(set) var completeFrameCount = 0

    private var globalPalette: Range<Int>?
    private var control = Control()
    private let frameLimit: Int
    /// Where the next block begins; nil before the header was read, and after the end.
    private var offset: Int?
    private var isAtEnd = false
    /// Where in the block the next sub-block begins; nil when it is not known to have any.
    private var subBlock: Int?

    private struct Control {
        var transparentIndex: Int?
        var disposal = 0
        var duration = FrameDuration.standard
    }

    /// Reads at most `frameLimit` frames.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when there is no header or no frame.
    init(_ bytes: UnsafeRawBufferPointer, frameLimit: Int) throws(WebImageError) {
        self.init(frameLimit: frameLimit)
        try read(bytes, isWhole: true)
    }

    /// A file of which nothing is there yet.
    init(frameLimit: Int) { self.frameLimit = max(frameLimit, 1) }

    /// Goes on with what has come, block by block as they are whole.
    ///
    /// - Parameters:
    ///   - bytes: all so far, from the first on.
    ///   - isWhole: whether they are all there will be; what is there of a block then counts.
    /// - Throws: as ``init(_:frameLimit:)``; that there is no frame, when no more can come.
    mutating func read(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) throws(WebImageError) {
        let reader = ByteReader(bytes)
        if offset == nil, !isAtEnd {
            guard try readHeader(reader, isWhole: isWhole) else { return }
        }
        readBlocks(reader, isWhole: isWhole)
        guard !frames.isEmpty || !(isWhole || isAtEnd) else {
            throw WebImageError(.badImageData, "the GIF file has no picture")
        }
    }

    /// - Returns: false when not all of it is there.
    private mutating func readHeader(_ reader: ByteReader, isWhole: Bool) throws(WebImageError) -> Bool {
        guard isWhole || reader.count >= 13 else { return false }
        guard ImageFormat(detecting: reader.bytes) == .gif, let width = reader.littleEndian16(6),
            let height = reader.littleEndian16(8), let flags = reader.byte(10)
        else { throw WebImageError(.badImageData, "not a GIF file") }
        let colors = flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0
        (self.width, self.height) = (width, height)
        guard isWhole || reader.count >= 13 + colors else { return false }
        if colors > 0 { globalPalette = Self.palette(at: 13, flags: flags, in: reader) }
        offset = 13 + colors
        return true
    }

    private static func palette(at offset: Int, flags: UInt8, in reader: ByteReader) -> Range<Int>? {
        let count = 3 << (Int(flags & 7) + 1)
        return reader.slice(offset, count) == nil ? nil : offset..<offset + count
    }

    private mutating func readBlocks(_ reader: ByteReader, isWhole: Bool) {
        while let position = offset, let introducer = reader.byte(position) {
            if subBlock == nil {
                guard beginBlock(introducer, reader, at: position, isWhole: isWhole) else { return }
            }
            guard skipSubBlocks(reader) || isWhole else { return }
            endBlock(introducer, reader, at: position)
        }
        if isWhole { end() }
    }

    private mutating func end() {
        offset = nil
        isAtEnd = true
    }

    /// Reads what a block begins with; false when that is not all there, or there is no block.
    private mutating func beginBlock(
        _ introducer: UInt8,
        _ reader: ByteReader,
        at position: Int,
        isWhole: Bool
    ) -> Bool {
        switch introducer {
        case 0x21:
            guard reader.byte(position + 2) != nil else { break }
            subBlock = position + 2
            return true
        case 0x2C:
            guard frames.count < frameLimit else {
                isCut = true
                end()
                return false
            }
            subBlock = readFrame(reader, at: position)
            if subBlock != nil { return true }
        default:
            end()
            return false
        }
        if isWhole { end() }
        return false
    }

    /// Goes on to the end of a chain of sub-blocks; false when that is not there.
    private mutating func skipSubBlocks(_ reader: ByteReader) -> Bool {
        while let position = subBlock, let length = reader.byte(position) {
            subBlock = position + 1 + Int(length)
            if length == 0 { return true }
        }
        return false
    }

    /// Takes what an extension says, and goes on to the next block.
    private mutating func endBlock(_ introducer: UInt8, _ reader: ByteReader, at position: Int) {
        let isComplete = subBlock.map { $0 > 0 && reader.byte($0 - 1) == 0 } ?? false
        if introducer == 0x21 {
            readExtension(reader, at: position)
        } else if isComplete {
            completeFrameCount += 1
        }
        offset = subBlock
        subBlock = nil
    }

    /// - Returns: where its sub-blocks begin; nil when not all of it is there.
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
        // Where the file says 0.
        if self.width == 0, frames.count == 1 { self.width = left + width }
        if self.height == 0, frames.count == 1 { self.height = top + height }
        return offset + 1
    }

    private mutating func readExtension(_ reader: ByteReader, at start: Int) {
        guard let label = reader.byte(start + 1), let length = reader.byte(start + 2) else { return }
        switch label {
        case 0xF9 where length >= 4: readControl(reader, at: start + 3)
        // A text would be drawn with the control block before it; nobody draws it.
        case 0x01: control = Control()
        case 0xFF where length == 11: readApplication(reader, at: start + 3)
        default: break
        }
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
