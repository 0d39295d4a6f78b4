import CTestSupport
import Glibc

/// A program that runs in a terminal of 100 columns and 40 rows, its three standard streams. It is killed when the
/// object is released.
public final class TerminalRun {
    private let control: Int32
    private let device: Int32
    private let pid: pid_t
    private let process: Int32
    private var raw: Int32?
    private let deadline: Double
    private let before: termios
    /// The program's output so far, as the terminal received it.
    public private(set) var output: [UInt8] = []

    /// Starts a program.
    ///
    /// - Parameter environment: Variables in addition to the test's own.
    public init(_ program: String, _ arguments: [String], environment: [String: String], seconds: Double = 20) throws {
        var name = [CChar](repeating: 0, count: 64)
        control = ctest_open_terminal(100, &name, name.count)
        guard control >= 0 else { throw ProgramRunError(program: "terminal", number: errno) }
        device = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        before = Self.attributes(device)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var variables = ProgramRun.variables(environment).map { strdup($0) } + [nil]
        defer { for variable in variables { free(variable) } }
        pid = ctest_spawn(program, &words, &variables, "/tmp", device, device, device)
        process = pid > 0 ? ctest_open_process(pid) : -1
        deadline = Self.now + seconds
        guard pid > 0 else { throw ProgramRunError(program: program, number: -pid) }
    }

    deinit {
        if pid > 0, raw == nil {
            kill(pid, SIGKILL)
            wait()
        }
        for file in [control, device, process] { close(file) }
    }

    /// The output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }

    /// Reads until the output contains a text; false if the program ends first, or the time is over.
    public func reads(_ text: String) -> Bool {
        while !self.text.contains(text) { guard readMore() else { return false } }
        return true
    }

    /// Presses keys.
    public func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(control, $0.baseAddress, $0.count) }
    }

    /// Sends the program a signal.
    public func send(_ signal: Int32) { kill(pid, signal) }

    /// Reads to the end; returns the exit code, or 128 plus the number of the signal, or nil if the program does not
    /// end in time.
    public func finish() -> Int32? {
        while readMore() {}
        guard hasEnded else { return nil }
        wait()
        return raw.map(ProgramRun.exitCode)
    }

    /// Returns whether the terminal's modes are the same as before.
    public var isRestored: Bool {
        let now = Self.attributes(device)
        return now.c_lflag == before.c_lflag && now.c_iflag == before.c_iflag && now.c_oflag == before.c_oflag
    }

    /// A Boolean value that indicates whether typed characters are echoed, and read line by line.
    public var echoes: Bool { Self.attributes(device).c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON) }

    private var hasEnded: Bool {
        var file = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) > 0
    }

    private func wait() {
        var raw: Int32 = 0
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
        self.raw = raw
    }

    /// Waits for output; false when the program has ended and all was read, or the time is over.
    private func readMore() -> Bool {
        let rest = deadline - Self.now
        guard rest > 0 else { return false }
        var files = [
            pollfd(fd: control, events: Int16(POLLIN), revents: 0),
            pollfd(fd: process, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&files, 2, Int32(rest * 1000) + 1) > 0 else { return true }
        guard files[0].revents & Int16(POLLIN) != 0 else { return files[1].revents == 0 }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(control, &buffer, buffer.count)
        if count > 0 { output += buffer[..<count] }
        return count > 0
    }

    private static func attributes(_ file: Int32) -> termios {
        var result = termios()
        tcgetattr(file, &result)
        return result
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
