/// A message about shared memory, with its descriptor attached.
package enum MemoryMessage: Equatable {
    /// An image will be decoded into memory of this size: sent before the decode, so that the parent can map the memory meanwhile.
    case announcement(Int)
    /// An answer that is too long for a message is in memory of this size.
    case answer(Int)

    /// The smallest image in bytes that is announced; smaller ones are mapped quickly enough.
    static let smallestAnnounced = 256 << 10
    /// Numbers that no request uses.
    private static let marks: (announcement: UInt64, answer: UInt64) = (.max - 1, .max)

    package var bytes: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .announcement(let byteCount):
            writer.write(Self.marks.announcement)
            writer.write(byteCount)
        case .answer(let byteCount):
            writer.write(Self.marks.answer)
            writer.write(byteCount)
        }
        return writer.bytes
    }

    /// Returns nil for any other message.
    init?(_ message: [UInt8]) {
        guard message.count == 16 else { return nil }
        let words = message.withUnsafeBytes { bytes -> (mark: UInt64, byteCount: Int)? in
            var reader = WireReader(bytes)
            guard let mark = try? reader.word(), let byteCount = try? reader.int() else { return nil }
            return (mark, byteCount)
        }
        guard let words, words.byteCount > 0 else { return nil }
        switch words.mark {
        case Self.marks.announcement: self = .announcement(words.byteCount)
        case Self.marks.answer: self = .answer(words.byteCount)
        default: return nil
        }
    }
}
