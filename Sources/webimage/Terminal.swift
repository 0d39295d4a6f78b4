import CLinux
import Glibc

/// Writing to the standard streams.
enum Terminal {
    /// Writes all of `text` to a stream; errors are ignored, a closed pipe ends the program by its signal.
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

    static func printError(_ message: String) { write("webimage: \(message)\n", to: STDERR_FILENO) }

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
