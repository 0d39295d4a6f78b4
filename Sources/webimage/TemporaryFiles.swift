import Dispatch
import Glibc

/// Files that are being written, so that they go when a user or the system ends the program.
final class TemporaryFiles: @unchecked Sendable {
    // Sendable because all state is touched on `queue` only.
    private static let shared = TemporaryFiles()
    private let queue = DispatchQueue(label: "webimage.temporary-files")
    private var paths: Set<String> = []
    private var sources: [any DispatchSourceSignal] = []

    /// A file that goes when the program is ended.
    static func add(_ path: String) { shared.queue.sync { _ = shared.paths.insert(path) } }

    /// The file has its final name, or is gone.
    static func remove(_ path: String) { shared.queue.sync { _ = shared.paths.remove(path) } }

    /// From now on the signals that end programs remove the files first. One that the program was started to ignore (by
    /// `nohup`) stays ignored.
    static func removeWhenInterrupted() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            if let former = signal(number, SIG_IGN), unsafeBitCast(former, to: Int.self) == 1 { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: shared.queue)
            source.setEventHandler {
                for path in shared.paths { unlink(path) }
                // What plays in the terminal ends first, but does not keep the program for long.
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

    /// Ends the program by a signal, as if nobody had caught it.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        // Dispatch blocks what it watches in some threads: sent to the process, it might come only after the program's own end.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        sigaddset(&numbers, number)
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
        raise(number)
    }
}
