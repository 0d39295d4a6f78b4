import CLinux
import Glibc

/// What standard output can show.
struct TerminalScreen: Sendable {
    /// Whether it is a terminal at all.
    var isTerminal: Bool
    /// Whether escape sequences may be written.
    var usesSequences: Bool
    /// Whether only ASCII can be.
    var isASCII: Bool
    var grid: CellGrid

    /// Whether pictures can move there.
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

    /// Whether the environment names a character set that is not UTF-8. What names none is taken for UTF-8, which terminals are
    /// nowadays.
    private static var localeIsASCII: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(Terminal.environment)
        guard let locale = names.first(where: { !$0.isEmpty })?.uppercased() else { return false }
        return !locale.contains("UTF-8") && !locale.contains("UTF8")
    }
}
