import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// Runs Swift's main actor and Dispatch's main queue inside GTK's main loop.
///
/// Without it, `Task { @MainActor in … }`, `Task.sleep` on the main actor and `DispatchQueue.main.async` wait forever in a program that
/// called `g_application_run`. Every function of this module that starts something installs it, so programs seldom have to.
public enum MainLoopIntegration {
    /// Installs the integration. Idempotent: later calls cost nothing. Main thread.
    ///
    /// It serves GLib's default main context, so it works with `g_application_run`, with bindings that run a loop like `gtk_main`, and with
    /// bindings that run Foundation's run loop. It does not serve timers and sources of `RunLoop.main`.
    ///
    /// With `static func main() async`, the main actor leaves the main thread at the first suspension, because Dispatch on Linux then runs
    /// the main queue on its own threads. Run GTK's loop before the first `await`, or from a `main` that is not `async`.
    ///
    /// - Precondition: the caller is on the main thread, as GTK requires.
    @MainActor
    public static func install() {
        guard !isInstalled else { return }
        precondition(
            CallbackQueue.isMainThread,
            "GTK must run on the main thread, but the main actor runs on another thread; see MainLoopIntegration.install()"
        )
        isInstalled = true
        webimage_gtk_serve_main_queue()
    }

    @MainActor private static var isInstalled = false
}
