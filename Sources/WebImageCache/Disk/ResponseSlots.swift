import FoundationEssentials
import Glibc

/// The slots of a cache file for its response, which can change while the file stays: two slots of one size, of which one is valid
/// and the other is overwritten by the next change.
///
///     slot  hash: u64, sequence: u64, length: u32, reserved: u32, bytes, anything up to the slot's size
///
/// `hash` is the XXH3-64 of the bytes after it, with the trailer's hash as the seed: a slot belongs only to its entry. Among the
/// slots with a correct hash, the one with the higher sequence is valid (0 means none). An amendment writes the other slot, so if
/// that write fails, the valid one is intact, and a concurrent reader sees either the old or the new content. If neither slot is
/// valid, the image can still be read, without a response.
struct ResponseSlots: Sendable, Hashable {
    static let headerSize = 24
    /// Slot sizes are multiples of this.
    static let granularity = 256
    static let smallestSize = 512
    static let largestSize = 48 << 10

    /// The size of each slot in bytes.
    let size: Int
    /// The hash of the trailer.
    let seed: UInt64

    /// The content of the valid slot.
    struct Content: Sendable, Hashable {
        /// The index of the slot, 0 or 1.
        var index: Int
        var sequence: UInt64
        var bytes: Data
    }

    /// Returns the size of slots for these bytes, with a quarter of spare room; nil if the bytes are too long for slots.
    ///
    /// - Parameter room: The number of further bytes that will be added.
    static func size(for bytes: Data, room: Int = 0) -> Int? {
        guard bytes.count <= largestSize - headerSize else { return nil }
        let wanted = headerSize + bytes.count + bytes.count / 4 + room
        let rounded = (wanted + granularity - 1) / granularity * granularity
        return min(max(rounded, smallestSize), largestSize)
    }

    /// Returns the encoded slot for these bytes; nil if they are too long for it.
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

    /// Returns the valid slot's content; nil if neither is valid. The bytes may change during the call.
    ///
    /// `isLatest` is false if the slot with the higher sequence is not valid: it was being written when it was read, and the other one may have
    /// been read before it was overwritten, too.
    func content(of bytes: UnsafeRawBufferPointer) -> (valid: Content?, isLatest: Bool) {
        guard bytes.count == 2 * size, size >= Self.headerSize else { return (nil, false) }
        let likely = bytes.littleEndian(at: size + 8, as: UInt64.self) > bytes.littleEndian(at: 8) ? 1 : 0
        if let latest = content(ofSlot: likely, in: bytes) { return (latest, true) }
        return (content(ofSlot: 1 - likely, in: bytes), false)
    }

    private func content(ofSlot index: Int, in bytes: UnsafeRawBufferPointer) -> Content? {
        let slot = UnsafeRawBufferPointer(rebasing: bytes[(index * size)..<((index + 1) * size)])
        let length = Int(slot.littleEndian(at: 16, as: UInt32.self))
        guard length <= size - Self.headerSize else { return nil }
        // A private copy is verified: the mapped bytes may change.
        let copy = Data(UnsafeRawBufferPointer(rebasing: slot[..<(Self.headerSize + length)]))
        let sequence = copy.withUnsafeBytes { copy -> UInt64? in
            let sequence = copy.littleEndian(at: 8, as: UInt64.self)
            guard sequence > 0, copy.littleEndian(at: 16) == UInt32(length) else { return nil }
            let hash = Hashing.xxh3(UnsafeRawBufferPointer(rebasing: copy[8...]), seed: seed)
            return copy.littleEndian(at: 0) == hash ? sequence : nil
        }
        return sequence.map { Content(index: index, sequence: $0, bytes: copy.dropFirst(Self.headerSize)) }
    }

    /// Returns the bytes to write for a new content, and their offset from the beginning of the slots; nil if they do not fit, or
    /// if the sequence is exhausted.
    func amendment(to bytes: Data, after current: Content?) -> (offset: Int, bytes: [UInt8])? {
        let (sequence, overflow) = (current?.sequence ?? 0).addingReportingOverflow(1)
        guard !overflow, let encoded = encoded(bytes, sequence: sequence) else { return nil }
        return (current?.index == 0 ? size : 0, encoded)
    }
}
