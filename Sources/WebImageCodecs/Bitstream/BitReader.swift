/// Reads numbers of any number of bits, the highest bit first.
package struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Skips bits; returns false if there are not so many.
    package mutating func skip(_ count: Int) -> Bool {
        position += count
        return position <= bytes.count * 8
    }

    /// Reads at most 32 bits; returns nil if there are not so many.
    package mutating func read(_ count: Int) -> Int? {
        guard position + count <= bytes.count * 8 else { return nil }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position / 8] >> (7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    /// Reads one bit.
    package mutating func flag() -> Bool? { read(1).map { $0 == 1 } }

    /// Reads an exponential Golomb number, which starts with as many zeros as bits follow its first 1: `ue(v)` of HEVC, `uvlc` of AV1.
    package mutating func readGolomb() -> Int? {
        var zeros = 0
        while let bit = read(1) {
            if bit == 1 { return read(zeros).map { 1 << zeros - 1 + $0 } }
            zeros += 1
            guard zeros <= 32 else { return nil }
        }
        return nil
    }
}
