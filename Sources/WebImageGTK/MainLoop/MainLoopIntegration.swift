import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// Lets Swift's main actor and Dispatch's main queue run while GTK's main loop does.
///
/// Without it, `Task { @MainActor in … }`, `Task.sleep` on the main actor and `DispatchQueue.main.async` wait for ever in a program that
/// called `g_application_run`. Every function of this module that begins something installs it, so programs seldom have to.
public enum MainLoopIntegration {
    /// Installs it, if it is not yet there. Main thread. Cost: nothing from the second call on.
    ///
    /// What is served is the default main context of GLib, so it works with `g_application_run`, `gtk_main`-like loops of bindings, and
    /// beside bindings that turn Foundation's run loop. Timers and sources of `RunLoop.main` are not served.
    ///
    /// With `static func main() async` the main actor leaves the main thread at the first suspension (Dispatch on Linux gives the main queue
    /// to threads of its own then): run GTK's loop before anything is awaited, or from a `main` that is not `async`.
    ///
    /// - Precondition: the caller is on the main thread, where GTK has to be.
    @MainActor
    public static func install() {
        guard !isInstalled else { return }
        precondition(
            CallbackQueue.isMainThread,
            "GTK belongs to the main thread, and the main actor runs on another one: see MainLoopIntegration.install()"
        )
        isInstalled = true
        webimage_gtk_serve_main_queue()
    }

    @MainActor private static var isInstalled = false
}
