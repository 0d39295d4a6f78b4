/// A PNG that is small as a file and huge as an image.
public enum PNGBomb {
    /// A black one-bit grey image of any size: rows of zeros in one stream of stored-then-repeated deflate blocks.
    public static func make(width: Int, height: Int) -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += chunk("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [1, 0, 0, 0, 0])
        file += chunk("IDAT", zeros((width + 7) / 8 * height + height))
        file += chunk("IEND", [])
        return file
    }

    /// A gzip file of `count` zeros, about a 160th of that long. Its checksum is wrong, as no reader should get that
    /// far.
    public static func gzip(zeros count: Int) -> [UInt8] {
        let deflated = zeros(count).dropFirst(2).dropLast(4)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + deflated + [0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// A zlib stream of `count` zeros: fixed Huffman codes, one literal and then matches of 258 bytes at distance 1.
    private static func zeros(_ count: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.write(1, 1)
        bits.write(1, 2)
        bits.writeCode(0x30, 8)
        // Length and distance at once, whose bits are zeros: there are millions of them.
        let match = BitWriter.reversed(0xC5, 8)
        for _ in 0..<((count - 1) / 258) { bits.write(match, 8 + 5) }
        for _ in 0..<((count - 1) % 258) { bits.writeCode(0x30, 8) }
        bits.writeCode(0, 7)
        // Adler-32 of zeros: the low half stays 1, the high half is their number.
        let adler = UInt32(count % 65_521) << 16 | 1
        return [0x78, 0x01] + bits.bytes + bigEndian(adler)
    }

    private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let typed = Array(type.utf8) + body
        return bigEndian(UInt32(body.count)) + typed + bigEndian(CRC32.of(typed))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }
}

/// Packs bits in deflate's order, the lowest first.
private struct BitWriter {
    private(set) var full: [UInt8] = []
    private var pending: UInt32 = 0
    private var count = 0

    /// Numbers are written from their lowest bit.
    mutating func write(_ value: UInt32, _ width: Int) {
        pending |= value << UInt32(count)
        count += width
        while count >= 8 {
            full.append(UInt8(pending & 255))
            pending >>= 8
            count -= 8
        }
    }

    /// Huffman codes are written from their highest bit.
    mutating func writeCode(_ code: UInt32, _ width: Int) { write(Self.reversed(code, width), width) }

    static func reversed(_ code: UInt32, _ width: Int) -> UInt32 {
        (0..<width).reduce(0) { $0 << 1 | code >> UInt32($1) & 1 }
    }

    var bytes: [UInt8] { count > 0 ? full + [UInt8(pending & 255)] : full }
}
