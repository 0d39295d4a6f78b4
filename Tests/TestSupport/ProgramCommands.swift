import Dispatch
import Glibc

/// Thrown by a command of a program for invalid arguments.
public struct UsageError: Error {
    /// Wrong arguments.
    public init() {}
}

/// A command of a program that tests run; it gets the arguments after its name.
public typealias ProgramCommand = ([String]) throws -> Void

/// Runs the command that this program's first argument names. Ends the process with 64 if there is none, or for invalid
/// arguments, and with 70 for any other error that it throws.
public func runCommand(of commands: [String: ProgramCommand]) {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
        guard let command = arguments.first.flatMap({ commands[$0] }) else { throw UsageError() }
        try command(Array(arguments.dropFirst()))
    } catch {
        exitProgram(with: error)
    }
}

/// Runs an asynchronous part of a command, and ends the process with the code that it returns. As in an `async` main
/// function, the main thread runs `dispatchMain`.
public func exitProgram(after body: @escaping @MainActor () async throws -> Int32) -> Never {
    Task { @MainActor in
        do {
            exit(try await body())
        } catch {
            exitProgram(with: error)
        }
    }
    dispatchMain()
}

private func exitProgram(with error: any Error) -> Never {
    let arguments = CommandLine.arguments.joined(separator: " ")
    writeLine(error is UsageError ? "wrong arguments: \(arguments)" : "\(arguments): \(error)", to: STDERR_FILENO)
    exit(error is UsageError ? 64 : 70)
}

/// Prints a line at once, past the buffers of the C library: copies of the process would print their contents, too.
public func printLine(_ text: String) { writeLine(text, to: STDOUT_FILENO) }

private func writeLine(_ text: String, to descriptor: Int32) {
    var line = text + "\n"
    line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
}
