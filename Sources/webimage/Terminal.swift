import CLinux
import Glibc
import WebImage

/// Writes to the standard streams.
enum Terminal {
    private static let outputError = Lock<Int32>(0)

    /// The error number of the first failed write to standard output, 0 if none. Output is incomplete then.
    static var outputFailure: Int32 { outputError.withLock { $0 } }

    /// Writes all of `text`, which is output for people or programs, to a stream; records a failure on standard output in
    /// ``outputFailure``. A closed pipe ends the program by its signal.
    static func print(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        var text = text
        text.withUTF8 { _ = print(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes bytes in the same way; false on failure.
    static func print(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32 = STDOUT_FILENO) -> Bool {
        if write(bytes, to: descriptor) { return true }
        let failure = errno
        if descriptor == STDOUT_FILENO { outputError.withLock { if $0 == 0 { $0 = failure } } }
        return false
    }

    /// Writes optional output, ignoring failures.
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

    /// Returns the text with "?" for terminal control characters: names and messages may come from anywhere.
    static func plain(_ text: String) -> String {
        // Most texts are plain ASCII, which takes no tables of Unicode.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isControl ? "?" : $0 }))
    }

    /// Returns a name unchanged if standard output is not a terminal, otherwise without control characters.
    static func name(_ text: String) -> String { isatty(STDOUT_FILENO) != 0 ? plain(text) : text }

    /// - Parameter hint: A trusted line below the message.
    static func printError(_ message: String, hint: String? = nil) {
        write("webimage: \(plain(message))\n" + (hint.map { $0 + "\n" } ?? ""), to: STDERR_FILENO)
    }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// True if bars may be drawn on standard error: it is a terminal with cursor movement.
    static var showsProgress: Bool { isatty(STDERR_FILENO) != 0 && environment("TERM") != "dumb" }

    /// True if colours may be used on standard error.
    static var usesColor: Bool { showsProgress && (environment("NO_COLOR") ?? "").isEmpty }

    static var errorColumns: Int {
        let columns = Int(webimage_terminal_columns(STDERR_FILENO))
        return columns > 0 ? columns : 80
    }
}

extension Unicode.Scalar {
    /// True for characters that control a terminal or text layout: C0 and C1 controls, line and paragraph separators, and
    /// directional marks. Joiners are not included, since words and emoji need them.
    var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: self != "\u{200C}" && self != "\u{200D}"
        default: false
        }
    }
}
