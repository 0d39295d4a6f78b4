import CLinux
import Glibc

/// Waits for the signals that end the program, on a thread of its own.
///
/// The handler itself does nothing but write the signal's number into a pipe: what it interrupts may hold any lock.
final class TerminationSignals: Sendable {
    private let queue = WorkQueue(name: "webimage-exit", width: 1)

    /// Nil when the system has no pipe left.
    init?(_ signals: [Int32], within seconds: Double) {
        let pipe = webimage_signal_pipe()
        guard pipe >= 0 else { return nil }
        queue.submit {
            // A program inherits the signals that its parent has blocked; this thread takes them in any case.
            var mask = sigset_t()
            sigemptyset(&mask)
            for signal in signals { sigaddset(&mask, signal) }
            pthread_sigmask(SIG_UNBLOCK, &mask, nil)
            var number: UInt8 = 0
            while true {
                let count = read(pipe, &number, 1)
                if count == 1 { break }
                guard count < 0, errno == EINTR else { return }
            }
            WebImageLifecycle.willTerminate(within: seconds)
            // As the system tells it to the parent: ended by that signal, not by an exit code.
            signal(Int32(number), SIG_DFL)
            kill(getpid(), Int32(number))
        }
        for signal in signals { _ = webimage_send_signal_to_pipe(signal) }
    }
}
