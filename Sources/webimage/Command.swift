import CommandHelp
import Glibc

/// A command of the program.
protocol Command: Sendable {
    static var name: String { get }
    /// The arguments after the name in the help.
    static var usage: String { get }
    static var summary: String { get }
    static var specs: [OptionSpec] { get }
    /// Returns the exit status.
    static func run(_ arguments: ParsedArguments) async throws -> Int32
}

/// The exit statuses of the program.
enum ExitStatus {
    static let success: Int32 = 0
    /// At least one source failed.
    static let failure: Int32 = 1
    /// An invalid command line (`EX_USAGE`).
    static let usage: Int32 = 64
    /// The system cannot run the program (`EX_OSERR`).
    static let system: Int32 = 71
}

enum Program {
    static let version = Release.version
    static let commands: [any Command.Type] = [
        GetCommand.self, IdentifyCommand.self, ShowCommand.self, TilesCommand.self, PrefetchCommand.self,
        CacheCommand.self,
    ]

    /// Runs what needs no coder and no thread, and returns the exit status; nil for everything else.
    static func runAtOnce(_ words: [String]) -> Int32? {
        guard let first = words.first else {
            Terminal.write(help, to: 2)
            return ExitStatus.usage
        }
        switch first {
        case "--help", "-h", "help":
            if words.count > 1, let command = commands.first(where: { $0.name == words[1] }) {
                Terminal.print(help(for: command))
            } else {
                Terminal.print(help)
            }
            return ExitStatus.success
        case "--version":
            Terminal.print("webimage \(version)\n")
            return ExitStatus.success
        case ServeCommand.name:
            return ServeCommand.run(Array(words.dropFirst()))
        case "--generate":
            return generate(Array(words.dropFirst()))
        default:
            return nil
        }
    }

    /// Exits; success becomes failure if standard output could not be written.
    static func end(_ status: Int32) -> Never {
        if Terminal.outputFailure != 0 {
            Terminal.printError("standard output: \(String(cString: strerror(Terminal.outputFailure)))")
        }
        exit(status == ExitStatus.success && Terminal.outputFailure != 0 ? ExitStatus.failure : status)
    }

    /// Runs a command.
    static func run(_ words: [String]) async -> Int32 {
        guard let command = commands.first(where: { $0.name == words.first }) else {
            Terminal.printError("unknown command '\(words.first ?? "")'; see webimage --help")
            return ExitStatus.usage
        }
        return await run(command, Array(words.dropFirst()))
    }

    private static func run(_ command: any Command.Type, _ words: [String]) async -> Int32 {
        let own = words.prefix { $0 != "--" }
        if own.contains("--help") || own.contains("-h") {
            Terminal.print(help(for: command))
            return ExitStatus.success
        }
        do {
            return try await command.run(ArgumentParser(specs: command.specs).parse(words))
        } catch let error as UsageError {
            Terminal.printError("\(command.name): \(error.message)", hint: "Try 'webimage \(command.name) --help'.")
            return ExitStatus.usage
        } catch {
            Terminal.printError("\(error)")
            return ExitStatus.failure
        }
    }

    static let introduction =
        "webimage loads images from the web: downloads, decodes, scales, caches and converts them."
    static let sources = "A source is an http, https, file or data URL, a file, or - for standard input."

    private static var help: String {
        var text = "\(introduction)\n\nUsage: webimage <command> [options] …\n\nCommands:\n"
        for command in commands { text += "  \(padded(command.name, 10)) \(command.summary)\n" }
        text += "  \(padded(ServeCommand.name, 10)) \(ServeCommand.summary)\n"
        text += "\nSee 'webimage <command> --help' for the options of a command.\n\(sources)\n"
        return text + "Exit status: 0 success, 1 at least one source failed, 64 invalid command line, 71 no threads.\n"
    }

    private static func help(for command: any Command.Type) -> String {
        "Usage: webimage \(command.name) \(command.usage)\n\n\(command.summary)\n\nOptions:\n"
            + OptionSpec.listing(command.specs + [.help])
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}
