import CLinux
import Glibc

/// The capabilities of standard output.
struct TerminalScreen: Sendable {
    /// True if it is a terminal.
    var isTerminal: Bool
    /// True if escape sequences may be written.
    var usesSequences: Bool
    /// True if only ASCII may be written.
    var isASCII: Bool
    var grid: CellGrid

    /// True if animations can be played.
    var canPlay: Bool { isTerminal && usesSequences }

    static var standardOutput: TerminalScreen {
        let isTerminal = isatty(STDOUT_FILENO) != 0
        let isPlain = !(Terminal.environment("NO_COLOR") ?? "").isEmpty || Terminal.environment("TERM") == "dumb"
        let force = Terminal.environment("CLICOLOR_FORCE") ?? ""
        var (columns, rows, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        if !webimage_terminal_size(STDOUT_FILENO, &columns, &rows, &width, &height) || columns == 0 || rows == 0 {
            (columns, rows, width, height) = (80, 24, 0, 0)
        }
        return TerminalScreen(
            isTerminal: isTerminal,
            usesSequences: !isPlain && (isTerminal || !(force.isEmpty || force == "0")),
            isASCII: localeIsASCII,
            grid: CellGrid(columns: Int(columns), rows: Int(rows), width: Int(width), height: Int(height))
        )
    }

    /// True if the environment names a character set other than UTF-8. Without one, UTF-8 is assumed, as in current terminals.
    private static var localeIsASCII: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(Terminal.environment)
        guard let locale = names.first(where: { !$0.isEmpty })?.uppercased() else { return false }
        return !locale.contains("UTF-8") && !locale.contains("UTF8")
    }
}
