import FoundationEssentials
import Glibc
import WebImage

/// Where results go: one file, a directory, or standard output.
actor OutputFiles {
    enum Target: Sendable {
        case file(String)
        case directory(String)
        case standardOutput
    }

    nonisolated let target: Target
    private var taken: Set<String> = []
    /// The last number given to a name that several results have.
    private var numbers: [String: Int] = [:]
    /// Files that are read, and so must not be written unless they are named as the output.
    private let sources: Set<FileIdentity>

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

    /// - Parameter output: what `-o` said; a directory when there are several sources, when it exists as one, or when it
    ///   ends with a slash. Without it, files go to the current directory.
    init(_ output: String?, sources: [Source]) throws {
        let sourceCount = sources.count
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

    /// The path for a result; no two results of one run get the same, and none that of a source.
    func path(stem: String, fileExtension: String) -> String {
        guard case .directory(let directory) = target else {
            if case .file(let path) = target { return path }
            return "-"
        }
        let prefix = directory == "." ? "" : directory.hasSuffix("/") ? directory : directory + "/"
        let first = "\(prefix)\(stem).\(fileExtension)"
        var candidate = first
        while isSource(candidate) || !taken.insert(candidate).inserted {
            let number = numbers[first, default: 1] + 1
            numbers[first] = number
            candidate = "\(prefix)\(stem)-\(number).\(fileExtension)"
        }
        return candidate
    }

    private func isSource(_ path: String) -> Bool {
        !sources.isEmpty && FileIdentity(path).map(sources.contains) ?? false
    }

    /// Writes a file as a whole or not at all, away from Swift's own threads. What exists and is no file (a device, a pipe)
    /// is written into; a symbolic link is followed.
    static func write(_ data: Data, to path: String) async throws {
        let failure = try await blocking { writeNow(data, to: path) }
        if let failure { throw OutputError(message: "\(path): \(failure)") }
    }

    private static func writeNow(_ data: Data, to path: String) -> String? {
        if path == "-" {
            return data.withUnsafeBytes { Terminal.write($0, to: STDOUT_FILENO) } ? nil : lastError()
        }
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            return write(data, to: path, flags: O_WRONLY | O_CLOEXEC | O_NOCTTY, mode: 0)
        }
        let target = exists ? resolved(path) : path
        let temporary = "\(target).\(getpid()).part"
        TemporaryFiles.add(temporary)
        defer { TemporaryFiles.remove(temporary) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        var failure = write(data, to: temporary, flags: flags, mode: exists ? status.st_mode & 0o777 : 0o666)
        if failure == nil, rename(temporary, target) != 0 { failure = lastError() }
        if failure != nil { unlink(temporary) }
        return failure
    }

    private static func write(_ data: Data, to path: String, flags: Int32, mode: mode_t) -> String? {
        let descriptor = open(path, flags, mode)
        guard descriptor >= 0 else { return lastError() }
        let failure = data.withUnsafeBytes { Terminal.write($0, to: descriptor) } ? nil : lastError()
        // Some file systems tell only now that there was no room.
        return close(descriptor) == 0 ? failure : failure ?? lastError()
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
            // What the system said, not how Foundation wraps it.
            let cause = ((error as? CocoaError)?.underlying as? POSIXError)?.code
            let reason = cause.map { String(cString: strerror($0.rawValue)) } ?? "\(error)"
            throw UsageError("\(path): cannot make the directory: \(reason)")
        }
    }

    private static func lastError() -> String { String(cString: strerror(errno)) }
}

/// A result could not be written.
struct OutputError: Error {
    var message: String
}
