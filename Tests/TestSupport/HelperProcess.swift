import Glibc

/// A helper program of the tests, running; killed when the object goes.
public final class HelperProcess {
    private let pid: pid_t
    private let output: Int32
    private var status: Int32?

    /// Starts a program that lies beside the running one.
    public convenience init(_ name: String, _ arguments: [String]) throws {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        let own = String(decoding: path.prefix(max(length, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let directory = own.lastIndex(of: "/").map { own[..<$0] } ?? "."
        try self.init(path: "\(directory)/\(name)", arguments)
    }

    /// Starts a program.
    public init(path program: String, _ arguments: [String]) throws {
        var pipes: [Int32] = [0, 0]
        guard pipe(&pipes) == 0 else { throw HelperProcessError(what: "pipe", number: errno) }
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, program, &actions, nil, &words, environ)
        close(pipes[1])
        guard result == 0 else {
            close(pipes[0])
            throw HelperProcessError(what: program, number: result)
        }
        self.pid = pid
        output = pipes[0]
    }

    deinit {
        if status == nil {
            kill()
            wait()
        }
        close(output)
    }

    /// The next line that it prints, without the line feed; nil at the end.
    public func readLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == 10 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Kills it, with no chance to clean up.
    public func kill() { Glibc.kill(pid, SIGKILL) }

    /// Waits for its end; its exit code, or 128 and the number of the signal that ended it.
    @discardableResult
    public func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
        let code = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
        status = code
        return code
    }
}

/// A helper program that could not be started.
public struct HelperProcessError: Error, CustomStringConvertible {
    let what: String
    let number: Int32
    /// The program and the reason.
    public var description: String { "\(what): \(String(cString: strerror(number)))" }
}
