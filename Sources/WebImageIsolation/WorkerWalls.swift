/// What a worker says of itself before it sees the first byte of a picture.
struct WorkerWalls: Sendable, Equatable {
    /// Goes up with every change of messages, so that a worker of another version is not asked.
    static let version = 3

    var version = Self.version
    /// Whether system calls are filtered.
    var hasSeccomp = false
    /// The version of Landlock, 0 without.
    var landlock = 0
    /// Whether it can read directories of fonts.
    var readsFonts = false
    /// Threads that there were when the walls were put up, 0 where nobody knows.
    var threads = 1
    /// Whether its memory is bounded.
    var isBounded = true

    init() {}

    var message: [UInt8] {
        var writer = WireWriter()
        writer.write(version)
        writer.write(hasSeccomp)
        writer.write(landlock)
        writer.write(readsFonts)
        writer.write(threads)
        writer.write(isBounded)
        return writer.bytes
    }

    init(_ message: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(message)
        version = try reader.int()
        hasSeccomp = try reader.bool()
        landlock = try reader.int()
        readsFonts = try reader.bool()
        threads = try reader.int()
        isBounded = try reader.bool()
        try reader.end()
    }

    /// Why nothing is decoded behind them; nil when they hold.
    var problem: String? {
        if version != Self.version { return "it is of another version of the library" }
        if !hasSeccomp { return "this system does not confine processes (seccomp)" }
        if threads == 0 || !isBounded { return "its threads and its memory cannot be looked after without /proc" }
        // Landlock and capabilities are those of a thread.
        guard threads == 1 else { return "\(threads) threads were there before its walls, which hold only one" }
        return nil
    }
}
