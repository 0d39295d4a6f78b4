import CWebImageGTK4
import Glibc
public import WebImage

extension WebImageLifecycle {
    /// Tells the library's caches of the turns of a GTK program's life, which nothing else does:
    ///
    /// - When the application shuts down, what waits is written and what has expired is removed (``willTerminate(within:)``).
    /// - When the system says that memory is short (`GMemoryMonitor`), images and frames that can be had again go
    ///   (``didReceiveMemoryWarning()``), as they do when the kernel reports pressure.
    /// - When none of the application's windows can be seen any more, because each is minimised, suspended (GTK 4.12 and later) or hidden,
    ///   the caches shrink (``didEnterBackground()``).
    ///
    /// Call it once, before `g_application_run`; a second call for the same application changes nothing. Main thread.
    ///
    /// - Parameters:
    ///   - application: a `GtkApplication`, or a `GApplication`, which has no windows (see ``observeWindow(_:)``).
    ///   - quitSignals: signals that quit the application as `g_application_quit` does, so that it shuts down in order; none by default, as
    ///     a program may have handlers of its own. Of SIGTERM, SIGHUP, SIGINT, SIGUSR1 and SIGUSR2; others are ignored. Not beside
    ///     ``installSignalHandlers(_:within:)`` for the same signals.
    ///   - exitSeconds: the most time that the caches may take at the end; 2 by default.
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

    /// Counts a window among those of which one must be seen for the program not to be in the background. For programs without
    /// `GtkApplication`; the windows of one are known by ``connect(to:quitSignals:exitSeconds:)``. Main thread.
    ///
    /// - Parameter window: a `GtkWindow`; a second call for it changes nothing.
    /// - Precondition: the object is a `GtkWindow`.
    @MainActor
    public static func observeWindow(_ window: any GObjectPointer) {
        let pointer = window.gobjectPointer
        precondition(pointer.isA(gtk_window_get_type()), "not a GtkWindow")
        MainLoopIntegration.install()
        WindowWatches.shared.add(pointer)
    }
}
