import Dispatch
import Glibc

/// Files being written, which are removed if a user or the system ends the program.
final class TemporaryFiles: @unchecked Sendable {
    // Sendable because all state is accessed only on `queue`.
    private static let shared = TemporaryFiles()
    private let queue = DispatchQueue(label: "webimage.temporary-files")
    private var paths: Set<String> = []
    private var sources: [any DispatchSourceSignal] = []

    /// Registers a file for removal if the program is ended.
    static func add(_ path: String) { shared.queue.sync { _ = shared.paths.insert(path) } }

    /// Unregisters a file that was renamed or removed.
    static func remove(_ path: String) { shared.queue.sync { _ = shared.paths.remove(path) } }

    /// Installs handlers so that the signals that end programs first remove the files. A signal that the program was started to
    /// ignore (by `nohup`) stays ignored.
    static func removeWhenInterrupted() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            if let former = signal(number, SIG_IGN), unsafeBitCast(former, to: Int.self) == 1 { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: shared.queue)
            source.setEventHandler {
                for path in shared.paths { unlink(path) }
                // Terminal playback ends first, but delays the end only briefly.
                guard LiveTerminal.interrupt(number) else { return end(by: number) }
                shared.queue.asyncAfter(deadline: .now() + 1) {
                    LiveTerminal.restore()
                    end(by: number)
                }
            }
            source.resume()
            shared.queue.sync { shared.sources.append(source) }
        }
    }

    /// Ends the program by a signal with its default action.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        // Dispatch blocks its signals in some threads: one sent to the process might arrive only after the program's own end.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        sigaddset(&numbers, number)
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
        raise(number)
    }
}
