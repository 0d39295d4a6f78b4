import CLinux
import FoundationEssentials
import Glibc
import WebImage

/// The destination of results: one file, a directory, or standard output.
actor OutputFiles {
    enum Target: Sendable {
        case file(String)
        case directory(String)
        case standardOutput
    }

    nonisolated let target: Target
    private var taken: Set<String> = []
    /// The last number appended to a name that several results share.
    private var numbers: [String: Int] = [:]
    /// The input files, which must not be overwritten unless named as the output.
    private let sources: Set<FileIdentity>
    /// True if existing files are replaced even if a source determined their name.
    private let overwrites: Bool

    private struct FileIdentity: Hashable {
        var device: UInt
        var inode: UInt

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
        }
    }

    /// - Parameter output: The value of `-o`. It is a directory if there are several sources, if it exists as one, or if it ends
    ///   with a slash. Without it, files are written to the current directory.
    init(_ output: String?, sources: [Source], overwrites: Bool) throws {
        let sourceCount = sources.count
        self.overwrites = overwrites
        self.sources = Set(sources.compactMap { $0.isFile ? FileIdentity($0.url.path(percentEncoded: false)) : nil })
        guard let output else {
            target = .directory(".")
            return
        }
        if output == "-" {
            guard sourceCount == 1 else { throw UsageError("-o - takes one source, not \(sourceCount)") }
            target = .standardOutput
        } else if sourceCount > 1 || output.hasSuffix("/") || Self.isDirectory(output) {
            target = .directory(output)
            try Self.makeDirectory(output)
        } else {
            target = .file(output)
        }
    }

    /// Writes a result and returns its path, "-" for standard output.
    ///
    /// In a directory, the name comes from the source. A number is appended if the name is used by another result of this run, by
    /// a source, or by an existing file that may not be overwritten.
    func write(_ data: Data, stem: String, fileExtension: String) async throws -> String {
        let overwrites = overwrites
        switch target {
        case .standardOutput:
            try await Self.run("-") { () throws(OutputError) in try Self.writeToStandardOutput(data) }
            return "-"
        case .file(let path):
            try await Self.run(path) { () throws(OutputError) in try Self.writeNamed(data, to: path) }
            return path
        case .directory(let directory):
            while true {
                let path = freePath(in: directory, stem: stem, fileExtension: fileExtension)
                do {
                    try await Self.run(path) { () throws(OutputError) in
                        try Self.replace(path, with: data, mode: Self.mode(of: path), exclusive: !overwrites)
                    }
                    return path
                } catch let error as OutputError where error.number == EEXIST && !overwrites {
                    // Another program created a file of that name meanwhile.
                    continue
                }
            }
        }
    }

    /// Returns a path for a result. No two results of one run get the same path, and none that of a source.
    private func freePath(in directory: String, stem: String, fileExtension: String) -> String {
        let prefix = directory == "." ? "" : directory.hasSuffix("/") ? directory : directory + "/"
        let first = "\(prefix)\(stem).\(fileExtension)"
        var candidate = first
        while isSource(candidate) || !overwrites && Self.exists(candidate) || !taken.insert(candidate).inserted {
            let number = numbers[first, default: 1] + 1
            numbers[first] = number
            candidate = "\(prefix)\(stem)-\(number).\(fileExtension)"
        }
        return candidate
    }

    private func isSource(_ path: String) -> Bool {
        !sources.isEmpty && FileIdentity(path).map(sources.contains) ?? false
    }

    /// Returns whether the path exists, including as a dangling symbolic link.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the permissions for a new file or a replacement.
    private static func mode(of path: String) -> mode_t {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0o666 }
        return status.st_mode & 0o777
    }

    /// Performs disk work outside Swift's concurrency pool.
    private static func run(_ path: String, _ work: @escaping @Sendable () throws(OutputError) -> Void) async throws {
        let failure: OutputError? = try await blocking {
            do throws(OutputError) {
                try work()
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw OutputError(message: "\(path): \(failure.message)", number: failure.number) }
    }

    private static func writeToStandardOutput(_ data: Data) throws(OutputError) {
        guard data.withUnsafeBytes({ Terminal.write($0, to: STDOUT_FILENO) }) else { throw OutputError(errno) }
    }

    /// Writes a file named by the user. Follows a symbolic link. Writes into an existing device or pipe.
    private static func writeNamed(_ data: Data, to path: String) throws(OutputError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return try replace(path, with: data, mode: 0o666, exclusive: false)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return try write(data, into: path) }
        try replace(resolved(path), with: data, mode: status.st_mode & 0o777, exclusive: false)
    }

    /// Writes into a device or a pipe. Opening does not wait for a reader of the pipe; writing waits for it to read.
    private static func write(_ data: Data, into path: String) throws(OutputError) {
        let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw errno == ENXIO ? OutputError(message: "no process reads from it", number: ENXIO) : OutputError(errno)
        }
        guard isatty(descriptor) == 0 else {
            close(descriptor)
            throw OutputError(message: "is a terminal; image bytes are not written there", number: ENOTSUP)
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        try writeAll(data, closing: descriptor)
    }

    /// Writes a file atomically: under an unpredictable name in the same directory, which is then renamed. Links and pipes are
    /// never opened; `exclusive` fails with `EEXIST` if the path exists.
    private static func replace(
        _ path: String,
        with data: Data,
        mode: mode_t,
        exclusive: Bool
    ) throws(OutputError) {
        let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let temporary = "\(directory).webimage-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        TemporaryFiles.add(temporary)
        defer { TemporaryFiles.remove(temporary) }
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw OutputError(errno) }
        do throws(OutputError) {
            try writeAll(data, closing: descriptor)
            let result = webimage_rename(AT_FDCWD, temporary, AT_FDCWD, path, exclusive)
            if result != 0 { throw OutputError(-result) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private static func writeAll(_ data: Data, closing descriptor: Int32) throws(OutputError) {
        let failure = data.withUnsafeBytes { Terminal.write($0, to: descriptor) } ? 0 : errno
        // Some file systems report a full disk only on close.
        let isClosed = close(descriptor) == 0
        if failure != 0 || !isClosed { throw OutputError(failure != 0 ? failure : errno) }
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func makeDirectory(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            // The system's message, not Foundation's wrapper.
            let cause = ((error as? CocoaError)?.underlying as? POSIXError)?.code
            let reason = cause.map { String(cString: strerror($0.rawValue)) } ?? "\(error)"
            throw UsageError("\(path): cannot create the directory: \(reason)")
        }
    }

}

/// The error of a result that could not be written.
struct OutputError: Error {
    var message: String
    /// The `errno`.
    var number: Int32

    init(message: String, number: Int32) {
        self.message = message
        self.number = number
    }

    init(_ number: Int32) { self.init(message: String(cString: strerror(number)), number: number) }
}
