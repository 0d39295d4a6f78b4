import CLinux
public import Glibc

/// Notifies all ``ImageCache`` objects of the program of lifecycle events. The library does not call these methods by itself; the
/// handlers, once installed, call only ``willTerminate(within:)``.
public enum WebImageLifecycle {
    /// Flushes pending writes of all caches, also those to shared stores, and of interrupted downloads, when the program is about to end,
    /// then removes expired entries in those caches whose configuration enables it. Blocks the thread.
    ///
    /// Writes that are not done in time are lost, but no entry is torn: an entry is complete or missing. Idempotent: only the first
    /// call has an effect; others wait for it, within their time limit.
    ///
    /// - Parameter seconds: the time limit in seconds for all caches together (except for a system call that hangs); 2 by default.
    /// - Returns: true if everything was done in time.
    @discardableResult
    public static func willTerminate(within seconds: Double = 2) -> Bool {
        CacheRegistry.shared.terminate(within: seconds)
    }

    /// Notifies all caches that the program is in the background; see ``ImageCache/didEnterBackground()``. Returns at once.
    public static func didEnterBackground() {
        for upkeep in CacheRegistry.shared.upkeeps { upkeep.didEnterBackground() }
    }

    /// Calls ``willTerminate(within:)`` when the program ends by `exit` or by returning from its main function. For simple
    /// programs; a program with a main loop should call ``willTerminate(within:)`` where that loop ends. Installed once; a later
    /// call changes the time limit.
    ///
    /// - Parameter seconds: the time limit; 2 by default.
    public static func installExitHandler(within seconds: Double = 2) {
        let isFirst = exitSeconds.withLock { known -> Bool in
            defer { known = seconds }
            return known == nil
        }
        guard isFirst else { return }
        atexit { WebImageLifecycle.willTerminate(within: WebImageLifecycle.exitSeconds.withLock { $0 } ?? 0) }
    }

    private static let exitSeconds = Lock<Double?>(nil)

    /// Calls ``willTerminate(within:)`` on a signal, on a thread of the library; then the signal's default action ends the program.
    /// Replaces existing handlers, except for ignored signals (as SIGHUP is under `nohup`), which stay ignored. Installed once;
    /// later calls have no effect.
    ///
    /// - Parameters:
    ///   - signals: the signals that end the program: SIGTERM, SIGHUP and SIGINT by default.
    ///   - seconds: the time limit; 2 by default.
    public static func installSignalHandlers(
        _ signals: [Int32] = [SIGTERM, SIGHUP, SIGINT],
        within seconds: Double = 2
    ) {
        exitQueue.withLock { queue in
            guard queue == nil else { return }
            // The handler only writes the signal's number into the pipe: the interrupted code may hold any lock.
            let pipe = webimage_signal_pipe()
            guard pipe >= 0 else { return }
            queue = WorkQueue(name: "webimage-exit", width: 1)
            queue?.submit { end(withSignalFrom: pipe, of: signals, within: seconds) }
            for signal in signals { _ = webimage_send_signal_to_pipe(signal) }
        }
    }

    private static let exitQueue = Lock<WorkQueue?>(nil)

    private static func end(withSignalFrom pipe: Int32, of signals: [Int32], within seconds: Double) {
        // A program inherits its parent's blocked signals; this thread unblocks them.
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        var number: UInt8 = 0
        var count = read(pipe, &number, 1)
        while count < 0, errno == EINTR { count = read(pipe, &number, 1) }
        guard count == 1 else { return }
        willTerminate(within: seconds)
        // The parent must see a program that was ended by that signal, not by an exit code.
        signal(Int32(number), SIG_DFL)
        kill(getpid(), Int32(number))
    }
}
