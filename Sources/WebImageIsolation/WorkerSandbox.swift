/// A worker's report about its sandbox, sent before it receives the first byte of an image.
struct WorkerSandbox: Sendable, Equatable {
    /// The version of the protocol, increased with every change of messages, so that a worker of another version is not used.
    static let version = 6

    var version = Self.version
    /// Indicates whether system calls are filtered.
    var hasSeccomp = false
    /// The version of Landlock; 0 without it.
    var landlock = 0
    /// Indicates whether it can read font directories.
    var readsFonts = false
    /// The number of threads when the sandbox was entered; 0 if not known.
    var threads = 1
    /// Indicates whether its memory is bounded.
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

    /// The reason why the sandbox is not sufficient for decoding; nil if it is.
    var problem: String? {
        if version != Self.version { return "it belongs to another version of the library" }
        if !hasSeccomp { return "this system does not support the sandbox (seccomp)" }
        if threads == 0 || !isBounded { return "its threads and memory cannot be checked without /proc" }
        // Landlock and capabilities apply to a single thread.
        guard threads == 1 else { return "\(threads) threads existed before its sandbox, which confines only one" }
        return nil
    }
}
