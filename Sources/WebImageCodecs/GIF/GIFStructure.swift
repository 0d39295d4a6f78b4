/// One frame of a GIF file, according to its descriptor and the control block before it.
struct GIFFrame: Sendable, Hashable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
    var isInterlaced: Bool
    /// The location of the palette; nil when neither the frame nor the file has one.
    var palette: Range<Int>?
    /// The index that means transparent.
    var transparentIndex: Int?
    /// The disposal: 0 and 1 stay, 2 background, 3 the pixels before.
    var disposal: Int
    /// The duration in seconds, corrected.
    var duration: Double
    /// The offset of the compressed indices: the byte with the code size.
    var dataOffset: Int

    /// Returns whether any pixel of such a canvas may be transparent.
    func hasAlpha(onCanvasOf width: Int, by height: Int) -> Bool {
        let covers = left == 0 && top == 0 && self.width >= width && self.height >= height
        return transparentIndex != nil || !covers
    }
}

/// The blocks of a GIF file, found without reading pixels.
///
/// As in browsers, invalid data in place of a block ends the file: the frames before it are shown.
package struct GIFStructure: Sendable {
    /// The logical screen size; if the file states 0, the size that the first frame needs.
    private(set) var width = 0
    private(set) var height = 0
    private(set) var frames: [GIFFrame] = []
    /// The loop count in the file; nil if there is none.
    private(set) var loopCount: Int?
    /// A Boolean value that indicates whether the file has more frames than were read.
    private(set) var isCut = false

    /// The number of frames whose pixel data is complete.
    private(set) var completeFrameCount = 0

    private var globalPalette: Range<Int>?
    private var control = Control()
    private let frameLimit: Int
    /// The offset of the next block; nil before the header was read, and after the end.
    private var offset: Int?
    private var isAtEnd = false
    /// The offset of the next sub-block in the current block; nil when it is unknown whether there are any.
    private var subBlock: Int?

    private struct Control {
        var transparentIndex: Int?
        var disposal = 0
        var duration = FrameDuration.standard
    }

    /// Reads at most `frameLimit` frames.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` without a header or a frame.
    init(_ bytes: UnsafeRawBufferPointer, frameLimit: Int) throws(WebImageError) {
        self.init(frameLimit: frameLimit)
        try read(bytes, isWhole: true)
    }

    /// Creates an empty structure to be filled by ``read(_:isWhole:)``.
    init(frameLimit: Int) { self.frameLimit = max(frameLimit, 1) }

    /// Continues with newly received data, one complete block after the other.
    ///
    /// - Parameters:
    ///   - bytes: all bytes so far, from the start.
    ///   - isWhole: the bytes are complete; a truncated block is then read as far as possible.
    /// - Throws: as ``init(_:frameLimit:)``; a missing frame is an error only when the bytes are complete.
    mutating func read(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) throws(WebImageError) {
        let reader = ByteReader(bytes)
        if offset == nil, !isAtEnd {
            guard try readHeader(reader, isWhole: isWhole) else { return }
        }
        readBlocks(reader, isWhole: isWhole)
        guard !frames.isEmpty || !(isWhole || isAtEnd) else {
            throw WebImageError(.badImageData, "the GIF file has no image")
        }
    }

    /// - Returns: false when the header is incomplete.
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

    /// Reads the start of a block; returns false when it is incomplete, or the data is not a block.
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

    /// Moves to the end of a chain of sub-blocks; returns false when that is missing.
    private mutating func skipSubBlocks(_ reader: ByteReader) -> Bool {
        while let position = subBlock, let length = reader.byte(position) {
            subBlock = position + 1 + Int(length)
            if length == 0 { return true }
        }
        return false
    }

    /// Applies an extension's content, and moves to the next block.
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

    /// - Returns: the offset of its sub-blocks; nil when the descriptor is incomplete.
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
        // If the file states 0.
        if self.width == 0, frames.count == 1 { self.width = left + width }
        if self.height == 0, frames.count == 1 { self.height = top + height }
        return offset + 1
    }

    private mutating func readExtension(_ reader: ByteReader, at start: Int) {
        guard let label = reader.byte(start + 1), let length = reader.byte(start + 2) else { return }
        switch label {
        case 0xF9 where length >= 4: readControl(reader, at: start + 3)
        // Plain text extensions use the control block before them; no program draws them.
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
