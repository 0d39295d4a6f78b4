import CWebImageGTK4
import Glibc
public import WebImage

extension WebImageLifecycle {
    /// Notifies the library's caches of the events of a GTK program's life cycle. Nothing else does:
    ///
    /// - Shutdown of the application: pending writes are finished and expired entries removed (``willTerminate(within:)``).
    /// - Low-memory warning (`GMemoryMonitor`): images and frames that can be loaded or decoded again are released
    ///   (``didReceiveMemoryWarning()``), as under memory pressure reported by the kernel.
    /// - No visible window: when each window is minimised, suspended (GTK 4.12 and later) or hidden, the caches shrink
    ///   (``didEnterBackground()``).
    ///
    /// Call it once, before `g_application_run`. Idempotent for the same application. Main thread.
    ///
    /// - Parameters:
    ///   - application: a `GtkApplication`, or a `GApplication`, which has no windows (see ``observeWindow(_:)``).
    ///   - quitSignals: the signals that quit the application as `g_application_quit` does, so that it shuts down in order; none by
    ///     default, as a program may have its own handlers. SIGTERM, SIGHUP, SIGINT, SIGUSR1 and SIGUSR2 are supported; others are ignored.
    ///     Do not combine it with ``installSignalHandlers(_:within:)`` for the same signals.
    ///   - exitSeconds: the time limit for the caches at shutdown; 2 by default.
    /// - Precondition: the object is a `GApplication`.
    @MainActor
    public static func connect(
        to application: any GObjectPointer,
        quitSignals: [Int32] = [],
        exitSeconds: Double = 2
    ) {
        let pointer = application.gobjectPointer
        precondition(pointer.isA(g_application_get_type()), "not a GApplication")
        MainLoopIntegration.install()
        MemoryWarnings.install()
        ApplicationWatch.install(on: pointer, quitSignals: quitSignals, exitSeconds: exitSeconds)
    }

    /// Adds a window to those that keep the program out of the background while one of them is visible. For programs without
    /// `GtkApplication`; ``connect(to:quitSignals:exitSeconds:)`` adds the windows of an application. Main thread.
    ///
    /// - Parameter window: a `GtkWindow`. Idempotent for the same window.
    /// - Precondition: the object is a `GtkWindow`.
    @MainActor
    public static func observeWindow(_ window: any GObjectPointer) {
        let pointer = window.gobjectPointer
        precondition(pointer.isA(gtk_window_get_type()), "not a GtkWindow")
        MainLoopIntegration.install()
        WindowWatches.shared.add(pointer)
    }
}
