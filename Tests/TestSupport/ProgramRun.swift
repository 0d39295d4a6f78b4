import CTestSupport
import Glibc

/// One run of a program, with its output and resource use.
public struct ProgramRun: Sendable {
    /// The exit code, or 128 plus the number of the signal that ended it.
    public let status: Int32
    /// Its standard output.
    public let output: String
    /// Its standard error.
    public let errors: String
    /// The maximum resident memory, in bytes; at least that of the test's own process when it started the program,
    /// unless memory was to be measured.
    public let peakMemory: Int

    /// The lines of standard output.
    public var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// A program of this package, beside the running one.
    public static func product(_ name: String) -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        let own = String(decoding: path.prefix(max(length, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (own.lastIndex(of: "/").map { String(own[..<$0]) } ?? ".") + "/" + name
    }

    /// Runs a program to its end, as ``init(_:_:environment:directory:input:errorsToTerminal:measuresMemory:)`` does,
    /// and suspends the test meanwhile.
    public static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: String = "/tmp",
        input: String = "",
        errorsToTerminal: Bool = false,
        measuresMemory: Bool = false
    ) async throws -> ProgramRun {
        try await valueOnThread {
            try ProgramRun(
                program,
                arguments,
                environment: environment,
                directory: directory,
                input: input,
                errorsToTerminal: errorsToTerminal,
                measuresMemory: measuresMemory
            )
        }
    }

    /// Writes an executable script for bash. Another process does it: a program that a parallel test starts meanwhile
    /// would hold a file of this process open, and Linux does not execute a file that is open for writing.
    public static func writeScript(_ script: String, to path: String) async throws {
        let command = "cat >\"$0\" && chmod 755 \"$0\""
        let run = try await run("/bin/sh", ["-c", command, path], input: "#!/bin/bash\n\(script)\n")
        guard run.status == 0 else { throw ProgramRunError(program: path, number: EACCES) }
    }

    /// Runs a program to its end, blocking the calling thread.
    ///
    /// - Parameters:
    ///   - environment: Variables in addition to the test's own.
    ///   - directory: The working directory.
    ///   - errorsToTerminal: Indicates whether its standard error is a terminal of 100 columns.
    ///   - measuresMemory: Indicates whether a small program starts it, so that ``peakMemory`` is its own.
    public init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: String = "/tmp",
        input: String = "",
        errorsToTerminal: Bool = false,
        measuresMemory: Bool = false
    ) throws {
        let files = TemporaryDirectory()
        var (program, arguments) = (program, arguments)
        if measuresMemory {
            arguments = ["-c", Self.measure, files.path("peak"), program] + arguments
            program = "/usr/bin/python3"
        }
        try Self.write(input, to: files.path("in"))
        let terminal = errorsToTerminal ? try PseudoTerminal() : nil
        let streams = [
            open(files.path("in"), O_RDONLY | O_CLOEXEC),
            open(files.path("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
            open(terminal?.path ?? files.path("err"), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600),
        ]
        let number = errno
        defer { for stream in streams where stream >= 0 { close(stream) } }
        guard streams.allSatisfy({ $0 >= 0 }) else { throw ProgramRunError(program: program, number: number) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var variables = Self.variables(environment).map { strdup($0) } + [nil]
        defer { for variable in variables { free(variable) } }
        let pid = ctest_spawn(program, &words, &variables, directory, streams[0], streams[1], streams[2])
        guard pid > 0 else { throw ProgramRunError(program: program, number: -pid) }
        var raw: Int32 = 0
        var usage = rusage()
        while wait4(pid, &raw, 0, &usage) < 0 {
            guard errno == EINTR else { throw ProgramRunError(program: program, number: errno) }
        }
        status = Self.exitCode(raw)
        peakMemory = (measuresMemory ? Int(Self.read(files.path("peak"))) ?? 1 << 40 : usage.ru_maxrss) * 1024
        output = Self.read(files.path("out"))
        errors = terminal?.readAll() ?? Self.read(files.path("err"))
    }

    private static let measure = """
        import resource, subprocess, sys
        status = subprocess.run(sys.argv[2:]).returncode
        open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
        sys.exit(status if status >= 0 else 128 - status)
        """

    /// The exit code in the result of `wait`, or 128 plus the number of the signal.
    static func exitCode(_ raw: Int32) -> Int32 { raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F) }

    /// The test's own environment with changes, in a program's form.
    static func variables(_ own: [String: String]) -> [String] {
        var variables: [String] = []
        var next = environ
        while let text = next.pointee {
            let variable = String(cString: text)
            if own[String(variable.prefix { $0 != "=" })] == nil { variables.append(variable) }
            next += 1
        }
        return variables + own.map { "\($0.key)=\($0.value)" }
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw ProgramRunError(program: path, number: errno) }
        fputs(text, file)
        fclose(file)
    }

    private static func read(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A program could not be run.
public struct ProgramRunError: Error, CustomStringConvertible {
    let program: String
    let number: Int32
    /// The program and the reason.
    public var description: String { "\(program): \(String(cString: strerror(number)))" }
}

/// A terminal that a test reads.
final class PseudoTerminal {
    private let control: Int32
    private let device: Int32
    let path: String

    init() throws {
        var name = [CChar](repeating: 0, count: 64)
        control = ctest_open_terminal(100, &name, name.count)
        guard control >= 0 else { throw ProgramRunError(program: "terminal", number: errno) }
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Held open so that the output is not lost when the program ends.
        device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    }

    deinit {
        close(control)
        close(device)
    }

    /// The output so far.
    func readAll() -> String {
        _ = fcntl(control, F_SETFL, O_NONBLOCK)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = Glibc.read(control, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
