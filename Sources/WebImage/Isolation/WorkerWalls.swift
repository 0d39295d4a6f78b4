/// What a worker says of itself before it sees the first byte of a picture.
struct WorkerWalls: Sendable, Equatable {
    /// Goes up with every change of messages, so that a worker of another version is not asked.
    static let version = 2

    var version = Self.version
    /// Whether system calls are filtered.
    var hasSeccomp = false
    /// The version of Landlock, 0 without.
    var landlock = 0
    /// Whether it can read directories of fonts.
    var readsFonts = false
    /// Threads that there were when the walls were put up.
    var threads = 1

    init() {}

    var message: [UInt8] {
        var writer = WireWriter()
        writer.write(version)
        writer.write(hasSeccomp)
        writer.write(landlock)
        writer.write(readsFonts)
        writer.write(threads)
        return writer.bytes
    }

    init(_ message: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(message)
        version = try reader.int()
        hasSeccomp = try reader.bool()
        landlock = try reader.int()
        readsFonts = try reader.bool()
        threads = try reader.int()
        try reader.end()
    }
}

/// An answer that is too long for a message: it lies in memory, and the message says how long it is.
enum LongMessage {
    private static let mark: UInt64 = .max
    /// Nothing that is asked for has an answer of more bytes.
    private static let mostBytes = 256 << 20

    static func message(_ byteCount: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.write(mark)
        writer.write(byteCount)
        return writer.bytes
    }

    /// Nil when the message is the answer itself.
    static func byteCount(_ message: [UInt8]) -> Int? {
        guard message.count == 16 else { return nil }
        return message.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            guard (try? reader.word()) == mark, let count = try? reader.int(1...mostBytes, "a length") else {
                return nil
            }
            return count
        }
    }
}
