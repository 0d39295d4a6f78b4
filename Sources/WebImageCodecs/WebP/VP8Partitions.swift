/// Where the partitions of a lossy picture lie (RFC 6386, 9).
///
/// A partition that begins with 255, which no encoder writes, is decoded to other pixels by libwebp when it has seven bytes of it or
/// fewer at first: it has to have more before it begins, so that a picture does not depend on how it came.
struct VP8Partitions {
    /// How many bytes of the picture there must be for eight bytes of its last partition; nil while there are too few to tell, 0 where no
    /// picture is.
    static func neededByteCount(_ picture: UnsafeRawBufferPointer) -> Int? {
        guard picture.count >= headByteCount else { return nil }
        let tag = number(picture, at: 0)
        // What comes between two others is none that WebP may hold.
        guard tag & 1 == 0 else { return 0 }
        let sizes = headByteCount + tag >> 5
        var header = Self(bytes: UnsafeRawBufferPointer(rebasing: picture[headByteCount..<min(sizes, picture.count)]))
        guard let count = header.partitionCount() else {
            // The header of a picture that is damaged may go on behind its partition.
            return picture.count >= sizes ? 0 : nil
        }
        let first = sizes + 3 * (count - 1)
        guard picture.count >= first else { return nil }
        return stride(from: sizes, to: first, by: 3).reduce(first + 8) { $0 + number(picture, at: $1) }
    }

    /// One of three bytes, which must be there.
    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
    }

    /// The tag, the start code and the size.
    private static let headByteCount = 10

    // MARK: The header in the first partition

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var value: UInt32 = 0
    private var range: UInt32 = 255
    /// Bits of `value` that are there beyond the eight that are compared.
    private var extraBitCount = -8

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func partitionCount() -> Int? {
        // The colours and how they are clamped.
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

    /// Numbers that each are there or not, as a bit before them says.
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

    /// One that is as likely to be 0 as 1.
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
        // At least half of 256: the range is never less than 1.
        let shift = max(range.leadingZeroBitCount - 24, 0)
        range <<= UInt32(shift)
        extraBitCount -= shift
        return isSet ? 1 : 0
    }
}
