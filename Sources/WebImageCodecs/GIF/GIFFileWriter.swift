import CPixels
import FoundationEssentials

/// Writes the blocks of a GIF file.
struct GIFFileWriter {
    private(set) var data = Data()

    /// Writes the header, the size and the shared palette.
    ///
    /// - Parameter loopCount: how often an animation plays, 0 for infinite; nil for a still image. A file without a loop count plays once.
    mutating func begin(width: Int, height: Int, palette: GIFColorTable, loopCount: Int?) {
        data.append(contentsOf: "GIF89a".utf8)
        append16(width)
        append16(height)
        data.append(contentsOf: [0xF0 | UInt8(palette.bits - 1), 0, 0])
        data.append(contentsOf: palette.bytes)
        guard let loopCount, loopCount != 1 else { return }
        data.append(contentsOf: [0x21, 0xFF, 11])
        data.append(contentsOf: "NETSCAPE2.0".utf8)
        data.append(contentsOf: [3, 1])
        append16(min(loopCount, 65_535))
        data.append(0)
    }

    /// Writes how the next frame is shown.
    mutating func control(ticks: Int, disposal: UInt8, clear: UInt8?) {
        data.append(contentsOf: [0x21, 0xF9, 4, disposal << 2 | (clear == nil ? 0 : 1)])
        append16(ticks)
        data.append(contentsOf: [clear ?? 0, 0])
    }

    /// Writes a frame.
    ///
    /// - Parameters:
    ///   - palette: the local palette; nil for the shared one.
    ///   - bits: the number of bits of a palette index.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    mutating func frame(
        _ numbers: UnsafePointer<UInt8>,
        _ area: PixelArea,
        palette: GIFColorTable?,
        bits: Int
    ) throws(WebImageError) {
        data.append(0x2C)
        for side in [area.left, area.top, area.width, area.height] { append16(side) }
        data.append(palette.map { 0x80 | UInt8($0.bits - 1) } ?? 0)
        if let palette { data.append(contentsOf: palette.bytes) }
        let count = area.width * area.height
        let packed = try ScratchBuffer(byteCount: cpixels_lzw_bound(count))
        let packedCount = cpixels_lzw(numbers, count, UInt32(max(bits, 2)), packed.bytes)
        data.append(packed.bytes, count: packedCount)
    }

    mutating func end() { data.append(0x3B) }

    private mutating func append16(_ value: Int) {
        data.append(contentsOf: [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)])
    }
}

/// A palette as stored in a GIF file: filled up to a power of two.
struct GIFColorTable {
    /// The number of bits of an index, 1...8.
    let bits: Int
    let bytes: [UInt8]

    /// - Parameter count: the number of indices needed, including that of transparent pixels.
    init(_ colors: [UInt8], count: Int) {
        var bits = 1
        while 1 << bits < count { bits += 1 }
        self.bits = bits
        bytes = colors + [UInt8](repeating: 0, count: max(3 << bits - colors.count, 0))
    }
}
