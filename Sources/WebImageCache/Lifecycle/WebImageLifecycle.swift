import CLinux
public import Glibc

/// Tells every ``ImageCache`` of the program at once of the turns of its life. Nothing calls these by itself, unless one of
/// the handlers is installed.
public enum WebImageLifecycle {
    /// The program is about to end: writes what waits in all caches, then removes expired entries in those whose
    /// configuration says so. Blocks the thread.
    ///
    /// What does not get done in time is lost, but nothing is torn: an entry is there whole or not at all. Only the first
    /// call does anything; others wait for it, as long as they may.
    ///
    /// - Parameter seconds: the most time for all caches together (but for a system call that hangs); 2 by default.
    /// - Returns: whether everything was done in time.
    @discardableResult
    public static func willTerminate(within seconds: Double = 2) -> Bool {
        CacheRegistry.shared.terminate(within: seconds)
    }

    /// The program has gone out of sight; see ``ImageCache/didEnterBackground()``. Returns at once.
    public static func didEnterBackground() {
        for upkeep in CacheRegistry.shared.upkeeps { upkeep.didEnterBackground() }
    }

    /// Has ``willTerminate(within:)`` called when the program ends by `exit` or by returning from its main function. For
    /// plain programs; one with a main loop of its own calls it where that loop ends. Installed once; a later call changes
    /// the time.
    ///
    /// - Parameter seconds: the most time that the end may take; 2 by default.
    public static func installExitHandler(within seconds: Double = 2) {
        let isFirst = exitSeconds.withLock { known -> Bool in
            defer { known = seconds }
            return known == nil
        }
        guard isFirst else { return }
        atexit { WebImageLifecycle.willTerminate(within: WebImageLifecycle.exitSeconds.withLock { $0 } ?? 0) }
    }

    private static let exitSeconds = Lock<Double?>(nil)

    /// Has ``willTerminate(within:)`` called when one of the signals comes, on a thread of the library; then the signal's
    /// default action ends the program. Replaces the handlers that were there, but for signals that are ignored (as SIGHUP
    /// is under `nohup`): they stay so. Installed once; later calls have no effect.
    ///
    /// - Parameters:
    ///   - signals: those that mean the end: SIGTERM, SIGHUP and SIGINT by default.
    ///   - seconds: the most time that the end may take; 2 by default.
    public static func installSignalHandlers(
        _ signals: [Int32] = [SIGTERM, SIGHUP, SIGINT],
        within seconds: Double = 2
    ) {
        exitQueue.withLock { queue in
            guard queue == nil else { return }
            // The handler writes the signal's number into it and does nothing else: what it interrupts may hold any lock.
            let pipe = webimage_signal_pipe()
            guard pipe >= 0 else { return }
            queue = WorkQueue(name: "webimage-exit", width: 1)
            queue?.submit { end(withSignalFrom: pipe, of: signals, within: seconds) }
            for signal in signals { _ = webimage_send_signal_to_pipe(signal) }
        }
    }

    private static let exitQueue = Lock<WorkQueue?>(nil)

    private static func end(withSignalFrom pipe: Int32, of signals: [Int32], within seconds: Double) {
        // A program inherits the signals that its parent has blocked; this thread takes them in any case.
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        var number: UInt8 = 0
        var count = read(pipe, &number, 1)
        while count < 0, errno == EINTR { count = read(pipe, &number, 1) }
        guard count == 1 else { return }
        willTerminate(within: seconds)
        // As the system tells it to the parent: ended by that signal, not by an exit code.
        signal(Int32(number), SIG_DFL)
        kill(getpid(), Int32(number))
    }
}
