import FoundationEssentials
import Glibc

/// Where a cache file keeps what the server said with its picture, so that this can change while the file stays: two slots of
/// one size, of which one counts and the other is the place for what comes next.
///
///     slot  hash: u64, sequence: u64, length: u32, reserved: u32, bytes, anything up to the slot's size
///
/// `hash` is the XXH3-64 of what follows it, up to the end of the bytes, with the trailer's hash as the seed: a slot belongs to
/// its entry only. Of the slots whose hash is right that with the higher sequence counts (0 is none). An amendment writes the
/// other one, so whatever becomes of that write, the one that counted is still there, and who reads meanwhile sees what was
/// or what comes. With neither slot right the picture is still one, of which nothing is known.
struct ResponseSlots: Sendable, Hashable {
    static let headerSize = 24
    /// Sizes of a slot are multiples of this.
    static let granularity = 256
    static let smallestSize = 512
    static let largestSize = 48 << 10

    /// Bytes of each slot.
    let size: Int
    /// The hash of the trailer.
    let seed: UInt64

    /// What the slot that counts holds.
    struct Content: Sendable, Hashable {
        /// Which of the two it is.
        var index: Int
        var sequence: UInt64
        var bytes: Data
    }

    /// The size of slots for these bytes, with room to grow by a quarter; nil when they are too long for slots.
    static func size(for bytes: Data) -> Int? {
        guard bytes.count <= largestSize - headerSize else { return nil }
        let wanted = headerSize + bytes.count + bytes.count / 4
        let rounded = (wanted + granularity - 1) / granularity * granularity
        return min(max(rounded, smallestSize), largestSize)
    }

    /// What is at the beginning of a slot when it holds these bytes; nil when they are too long for it.
    func encoded(_ bytes: Data, sequence: UInt64) -> [UInt8]? {
        guard bytes.count <= size - Self.headerSize, let length = UInt32(exactly: bytes.count) else { return nil }
        var output = [UInt8](repeating: 0, count: 8)
        output.reserveCapacity(Self.headerSize + bytes.count)
        output.append(littleEndian: sequence)
        output.append(littleEndian: UInt64(length))
        output.append(contentsOf: bytes)
        let hash = output.withUnsafeBytes { Hashing.xxh3(UnsafeRawBufferPointer(rebasing: $0[8...]), seed: seed) }
        withUnsafeBytes(of: hash.littleEndian) { output.replaceSubrange(..<8, with: $0) }
        return output
    }

    /// The slot that counts of both; nil when neither does. The bytes may change while this reads them.
    func content(of bytes: UnsafeRawBufferPointer) -> Content? {
        guard bytes.count == 2 * size, size >= Self.headerSize else { return nil }
        let likely = bytes.littleEndian(at: size + 8, as: UInt64.self) > bytes.littleEndian(at: 8) ? 1 : 0
        return content(ofSlot: likely, in: bytes) ?? content(ofSlot: 1 - likely, in: bytes)
    }

    private func content(ofSlot index: Int, in bytes: UnsafeRawBufferPointer) -> Content? {
        let slot = UnsafeRawBufferPointer(rebasing: bytes[(index * size)..<((index + 1) * size)])
        let length = Int(slot.littleEndian(at: 16, as: UInt32.self))
        guard length <= size - Self.headerSize else { return nil }
        // Checked is what nobody can change any more.
        let copy = Data(UnsafeRawBufferPointer(rebasing: slot[..<(Self.headerSize + length)]))
        let sequence = copy.withUnsafeBytes { copy -> UInt64? in
            let sequence = copy.littleEndian(at: 8, as: UInt64.self)
            guard sequence > 0, copy.littleEndian(at: 16) == UInt32(length) else { return nil }
            let hash = Hashing.xxh3(UnsafeRawBufferPointer(rebasing: copy[8...]), seed: seed)
            return copy.littleEndian(at: 0) == hash ? sequence : nil
        }
        return sequence.map { Content(index: index, sequence: $0, bytes: copy.dropFirst(Self.headerSize)) }
    }

    /// What has to be written for these bytes to count, and how far from the beginning of the slots; nil when they do not fit,
    /// or have no number left.
    func amendment(to bytes: Data, after current: Content?) -> (offset: Int, bytes: [UInt8])? {
        let (sequence, overflow) = (current?.sequence ?? 0).addingReportingOverflow(1)
        guard !overflow, let encoded = encoded(bytes, sequence: sequence) else { return nil }
        return (current?.index == 0 ? size : 0, encoded)
    }
}
