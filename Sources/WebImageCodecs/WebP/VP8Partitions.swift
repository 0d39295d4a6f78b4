/// Locates the partitions of a lossy image (RFC 6386, 9).
///
/// libwebp decodes a partition that begins with 255, which encoders do not write, to other pixels if it first gets at most seven bytes of it. The
/// decoder only starts with more bytes, so the result does not depend on how the data is received.
struct VP8Partitions {
    /// Returns how many bytes of the image are needed for eight bytes of its last partition; nil while there are too few bytes to know, 0 if the data
    /// is not an image.
    static func neededByteCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= headByteCount else { return nil }
        let tag = number(bytes, at: 0)
        // WebP does not allow inter frames.
        guard tag & 1 == 0 else { return 0 }
        let sizes = headByteCount + tag >> 5
        var header = Self(bytes: UnsafeRawBufferPointer(rebasing: bytes[headByteCount..<min(sizes, bytes.count)]))
        guard let count = header.partitionCount() else {
            // The header of a damaged image may extend beyond its partition.
            return bytes.count >= sizes ? 0 : nil
        }
        let first = sizes + 3 * (count - 1)
        guard bytes.count >= first else { return nil }
        return stride(from: sizes, to: first, by: 3).reduce(first + 8) { $0 + number(bytes, at: $1) }
    }

    /// Reads a number of three bytes, which must be there.
    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
    }

    /// The number of bytes of the tag, the start code and the size.
    private static let headByteCount = 10

    // MARK: The header in the first partition

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var value: UInt32 = 0
    private var range: UInt32 = 255
    /// The number of valid bits in `value` beyond the eight that are compared.
    private var extraBitCount = -8

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func partitionCount() -> Int? {
        // The colour space and the clamping type.
        guard skip(2), skipSegments(), skip(1 + 6 + 3), skipFilterDeltas(), let exponent = number(2) else { return nil }
        return 1 << exponent
    }

    private mutating func skipSegments() -> Bool {
        guard let hasSegments = number(1) else { return false }
        guard hasSegments == 1 else { return true }
        guard let flags = number(2) else { return false }
        if flags & 1 == 1 {
            guard skip(1), skipOptional(4, bitCount: 7 + 1), skipOptional(4, bitCount: 6 + 1) else { return false }
        }
        return flags & 2 == 0 || skipOptional(3, bitCount: 8)
    }

    private mutating func skipFilterDeltas() -> Bool {
        guard let hasDeltas = number(1) else { return false }
        guard hasDeltas == 1 else { return true }
        guard let changes = number(1) else { return false }
        return changes == 0 || skipOptional(8, bitCount: 6 + 1)
    }

    /// Skips numbers that are each preceded by a bit that says whether they are there.
    private mutating func skipOptional(_ count: Int, bitCount: Int) -> Bool {
        for _ in 0..<count {
            guard let isThere = number(1), isThere == 0 || skip(bitCount) else { return false }
        }
        return true
    }

    private mutating func skip(_ bitCount: Int) -> Bool { number(bitCount) != nil }

    private mutating func number(_ bitCount: Int) -> Int? {
        var number = 0
        for _ in 0..<bitCount {
            guard let bit = bit() else { return nil }
            number = number << 1 | bit
        }
        return number
    }

    /// Reads a bit with a probability of one half.
    private mutating func bit() -> Int? {
        if extraBitCount < 0 {
            guard position < bytes.count else { return nil }
            value = value << 8 | UInt32(bytes[position])
            position += 1
            extraBitCount += 8
        }
        let split = 1 + (range - 1) >> 1
        let isSet = value >> UInt32(extraBitCount) >= split
        if isSet {
            value -= split << UInt32(extraBitCount)
            range -= split
        } else {
            range = split
        }
        // The range is never less than 1.
        let shift = max(range.leadingZeroBitCount - 24, 0)
        range <<= UInt32(shift)
        extraBitCount -= shift
        return isSet ? 1 : 0
    }
}
