import Glibc
import WebImage

/// The terminal state during playback: the cursor is hidden, and keys are received unbuffered and without echo.
///
/// Whatever ends the program meanwhile, including a signal, calls ``restore()``, which is idempotent.
enum LiveTerminal {
    private struct State {
        /// The previous settings of standard input; nil if it is not a terminal, or was not changed.
        var input: termios?
        /// The write end of a pipe that notifies the player of a signal.
        var wake: Int32
        /// The signal received.
        var signal: Int32 = 0
    }

    private static let state = Lock<State?>(nil)

    /// True if keys can be read: standard input is a terminal, and this process is in its foreground group.
    static var hasKeys: Bool {
        guard isatty(STDIN_FILENO) != 0 else { return false }
        let group = tcgetpgrp(STDIN_FILENO)
        return group < 0 || group == getpgrp()
    }

    /// Enters the playback state.
    ///
    /// - Parameters:
    ///   - wake: The descriptor written to when a signal is received.
    ///   - readsKeys: True to switch standard input to unbuffered keys.
    static func begin(wake: Int32, readsKeys: Bool) {
        var former: termios?
        var input = termios()
        if readsKeys, tcgetattr(STDIN_FILENO, &input) == 0 {
            former = input
            input.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // Ctrl-C stays a signal. The keys that suspend the program, or end it with a core dump, become ordinary keys: the
            // shell would get a terminal without a cursor.
            withUnsafeMutableBytes(of: &input.c_cc) { codes in
                for index in [VSUSP, VQUIT] { codes[Int(index)] = 0 }
                codes[Int(VMIN)] = 1
                codes[Int(VTIME)] = 0
            }
        }
        state.withLock { $0 = State(input: former, wake: wake) }
        // Discards keys typed before playback.
        if former != nil { tcsetattr(STDIN_FILENO, TCSAFLUSH, &input) }
        Terminal.write("\u{1B}[?25l")
    }

    /// The milliseconds to wait for a blocked terminal, so that a slow one still gets its cursor back.
    private static let patience: Int32 = 500

    /// Restores the terminal. Waits only briefly for a blocked one.
    static func restore() {
        guard let former = state.withLock({ $0.take() }) else { return }
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&output, 1, patience) > 0, output.revents & Int16(POLLOUT) != 0 {
            // First ends an image that was cut off.
            Terminal.write("\u{1B}\\\u{1B}[0m\u{1B}[?2026l\u{1B}[?25h")
        }
        guard var input = former.input else { return }
        // Discards further keys pressed with the one that ended playback; they are not for the shell.
        tcflush(STDIN_FILENO, TCIFLUSH)
        tcsetattr(STDIN_FILENO, TCSANOW, &input)
    }

    /// Notifies the player of a signal that ends the program; false if nothing plays, or it was notified before.
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

    /// The signal that the player was notified of; 0 if none.
    static var signal: Int32 { state.withLock { $0?.signal ?? 0 } }
}
