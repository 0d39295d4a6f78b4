import Glibc
import WebImage

/// The terminal while something plays in it: no cursor, and keys come at once and are not shown.
///
/// Whoever ends the program meanwhile, a signal too, calls ``restore()``; it does nothing when nothing is to be restored.
enum LiveTerminal {
    private struct State {
        /// How standard input was; nil when that is no terminal, or not ours.
        var input: termios?
        /// The end of a pipe that tells the player of a signal.
        var wake: Int32
        /// The signal that came.
        var signal: Int32 = 0
    }

    private static let state = Lock<State?>(nil)

    /// Whether keys can be read: standard input is a terminal, and no other job's at the moment.
    static var hasKeys: Bool {
        guard isatty(STDIN_FILENO) != 0 else { return false }
        let group = tcgetpgrp(STDIN_FILENO)
        return group < 0 || group == getpgrp()
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - wake: is written to when a signal comes.
    ///   - readsKeys: whether standard input is set to tell of keys.
    static func begin(wake: Int32, readsKeys: Bool) {
        var former: termios?
        var input = termios()
        if readsKeys, tcgetattr(STDIN_FILENO, &input) == 0 {
            former = input
            input.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // Ctrl-C stays what it is. Those that would stop the program, or kill it with a core, are keys: the shell would get
            // a terminal without a cursor.
            withUnsafeMutableBytes(of: &input.c_cc) { codes in
                for index in [VSUSP, VQUIT] { codes[Int(index)] = 0 }
                codes[Int(VMIN)] = 1
                codes[Int(VTIME)] = 0
            }
        }
        state.withLock { $0 = State(input: former, wake: wake) }
        // What was typed before is not meant for the picture.
        if former != nil { tcsetattr(STDIN_FILENO, TCSAFLUSH, &input) }
        Terminal.write("\u{1B}[?25l")
    }

    /// Milliseconds for which a terminal that takes nothing is waited for: one that is slow gets its cursor back.
    private static let patience: Int32 = 500

    /// Sets everything back. Does not wait for long for a terminal that takes nothing.
    static func restore() {
        guard let former = state.withLock({ $0.take() }) else { return }
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&output, 1, patience) > 0, output.revents & Int16(POLLOUT) != 0 {
            // First of all the end of a picture that was cut short.
            Terminal.write("\u{1B}\\\u{1B}[0m\u{1B}[?2026l\u{1B}[?25h")
        }
        guard var input = former.input else { return }
        // Keys that were pressed together with the one that ended it are not for the shell either.
        tcflush(STDIN_FILENO, TCIFLUSH)
        tcsetattr(STDIN_FILENO, TCSANOW, &input)
    }

    /// Tells the player of a signal, which ends everything; false when nothing plays, or it was told before.
    static func interrupt(_ number: Int32) -> Bool {
        let wake = state.withLock { state -> Int32? in
            guard state?.signal == 0 else { return nil }
            state?.signal = number
            return state?.wake
        }
        var byte: UInt8 = 0
        if let wake, Glibc.write(wake, &byte, 1) == 1 { return true }
        restore()
        return false
    }

    /// The signal that the player was told of; 0 without one.
    static var signal: Int32 { state.withLock { $0?.signal ?? 0 } }
}
