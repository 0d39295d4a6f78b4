import CTestSupport
import Glibc

/// A program that runs beside the test and can be read from and killed; it is killed when the object is released.
/// ``ProgramRun`` is for programs that are waited for.
public final class HelperProcess: Sendable {
    private let pid: pid_t
    private let output: Int32
    private let status = Monitor<Int32?>(nil)

    /// Starts a program in the directory of the running one.
    public convenience init(_ name: String, _ arguments: [String]) throws {
        try self.init(path: ProgramRun.product(name), arguments)
    }

    /// Starts a program.
    public init(path program: String, _ arguments: [String]) throws {
        var pipes: [Int32] = [0, 0]
        guard ctest_pipe(&pipes) == 0 else { throw ProgramRunError(program: "pipe", number: errno) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let pid = ctest_spawn(program, &words, environ, ".", 0, pipes[1], 2)
        close(pipes[1])
        guard pid > 0 else {
            close(pipes[0])
            throw ProgramRunError(program: program, number: -pid)
        }
        self.pid = pid
        output = pipes[0]
    }

    deinit {
        if status.withLock({ $0 }) == nil {
            kill()
            block()
        }
        close(output)
    }

    /// The next line that it prints, without the line feed; nil at the end.
    public func readLine() async -> String? { await valueOnThread { self.blockForLine() } }

    private func blockForLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == 10 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until the files of a directory are as wanted, which is checked now and after each change; false when the
    /// program ends first, or after 15 seconds.
    public func wait(
        forChangesOf directory: String,
        until condition: @escaping @Sendable () -> Bool
    ) async -> Bool {
        await DirectoryWatch(directory)?.wait(orEndOf: pid, until: condition) ?? false
    }

    /// Kills it, with no chance to clean up.
    public func kill() { Glibc.kill(pid, SIGKILL) }

    /// Sends it a signal.
    public func send(_ signal: Int32) { Glibc.kill(pid, signal) }

    /// Waits for its end; returns its exit code, or 128 plus the number of the signal that ended it.
    @discardableResult
    public func wait() async -> Int32 { await valueOnThread { self.block() } }

    @discardableResult
    private func block() -> Int32 {
        status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
            let code = ProgramRun.exitCode(raw)
            status = code
            return code
        }
    }
}
