import Dispatch
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

    /// - Parameter output: what `-o` said; a directory when there are several sources, when it exists as one, or when it
    ///   ends with a slash. Without it, files go to the current directory.
    init(_ output: String?, sourceCount: Int) throws {
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

    /// The path for a result; no two results of one run get the same.
    func path(stem: String, fileExtension: String) -> String {
        guard case .directory(let directory) = target else {
            if case .file(let path) = target { return path }
            return "-"
        }
        let prefix = directory == "." ? "" : directory.hasSuffix("/") ? directory : directory + "/"
        var candidate = "\(prefix)\(stem).\(fileExtension)"
        var number = 2
        while !taken.insert(candidate).inserted {
            candidate = "\(prefix)\(stem)-\(number).\(fileExtension)"
            number += 1
        }
        return candidate
    }

    /// Writes a file as a whole or not at all, away from Swift's own threads.
    static func write(_ data: Data, to path: String) async throws {
        let failure: String? = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: writeNow(data, to: path)) }
        }
        if let failure { throw OutputError(message: "\(path): \(failure)") }
    }

    private static func writeNow(_ data: Data, to path: String) -> String? {
        if path == "-" {
            return data.withUnsafeBytes { Terminal.write($0, to: STDOUT_FILENO) } ? nil : lastError()
        }
        let temporary = "\(path).\(getpid()).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return lastError() }
        let isWritten = data.withUnsafeBytes { Terminal.write($0, to: descriptor) }
        let failure = isWritten ? nil : lastError()
        close(descriptor)
        if failure == nil, rename(temporary, path) == 0 { return nil }
        defer { unlink(temporary) }
        return failure ?? lastError()
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func makeDirectory(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw UsageError("\(path): cannot make the directory (\(error))")
        }
    }

    private static func lastError() -> String { String(cString: strerror(errno)) }
}

/// A result could not be written.
struct OutputError: Error {
    var message: String
}
