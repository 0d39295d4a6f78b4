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

    /// Memory is short; see ``ImageCache/didReceiveMemoryWarning()``. Frames of animations that are not shown next go, too, and
    /// memory that is kept for the next picture. The system tells the library of that already; call this when something else does.
    public static func didReceiveMemoryWarning() {
        for upkeep in CacheRegistry.shared.upkeeps { upkeep.didReceiveMemoryWarning() }
        AnimationFramePools.shared.removeAllFrames()
        // After the images: what they let go of went there.
        BufferPool.shared.trim(toBytes: 0)
        webimage_transfer_trim()
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
        signalThread.withLock { thread in
            if thread == nil { thread = TerminationSignals(signals, within: seconds) }
        }
    }

    private static let signalThread = Lock<TerminationSignals?>(nil)
}
