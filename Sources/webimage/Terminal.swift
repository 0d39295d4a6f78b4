import CLinux
import Glibc
import WebImage

/// Writing to the standard streams.
enum Terminal {
    private static let outputError = Lock<Int32>(0)

    /// The first error number of a write to standard output, 0 without one. What was asked for was not delivered then.
    static var outputFailure: Int32 { outputError.withLock { $0 } }

    /// Writes all of `text`, which is meant for people or programs, to a stream; a failure on standard output is kept in
    /// ``outputFailure``. A closed pipe ends the program by its signal.
    static func print(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        var text = text
        text.withUTF8 { _ = print(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// The same for bytes; false on failure.
    static func print(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32 = STDOUT_FILENO) -> Bool {
        if write(bytes, to: descriptor) { return true }
        let failure = errno
        if descriptor == STDOUT_FILENO { outputError.withLock { if $0 == 0 { $0 = failure } } }
        return false
    }

    /// Writes what nobody is hurt to miss.
    static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        var text = text
        _ = text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    @discardableResult
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The text with "?" for what would steer a terminal: names and messages may come from anywhere.
    static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isControl ? "?" : $0 }))
    }

    /// A name for a program that reads standard output, as it is, or for who reads it in a terminal.
    static func name(_ text: String) -> String { isatty(STDOUT_FILENO) != 0 ? plain(text) : text }

    /// - Parameter hint: a line of this program's own below the message.
    static func printError(_ message: String, hint: String? = nil) {
        write("webimage: \(plain(message))\n" + (hint.map { $0 + "\n" } ?? ""), to: STDERR_FILENO)
    }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Whether bars may be drawn on standard error: it is a terminal that can move its cursor.
    static var showsProgress: Bool { isatty(STDERR_FILENO) != 0 && environment("TERM") != "dumb" }

    /// Whether colours may be used on standard error.
    static var usesColor: Bool { showsProgress && (environment("NO_COLOR") ?? "").isEmpty }

    static var errorColumns: Int {
        let columns = Int(webimage_terminal_columns(STDERR_FILENO))
        return columns > 0 ? columns : 80
    }
}

extension Unicode.Scalar {
    /// Whether it steers a terminal or how text is laid out: controls of both sets, separators of lines and paragraphs, and
    /// marks of direction. Joiners are none, since words and emoji are made with them.
    var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: self != "\u{200C}" && self != "\u{200D}"
        default: false
        }
    }
}
