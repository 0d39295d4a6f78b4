import CWebImageGTK4
import CWebImageGTKShims

/// Wakes the main loop and calls a function on it, at once or after a delay. Level-triggered: it keeps calling until silenced, so no
/// wake-up is lost.
///
/// GLib's own wake-up functions hold the context's lock, so the main thread would wake only to wait for the lock. This uses file
/// descriptors, and falls back to GLib's functions if none is available. Any thread.
struct MainLoopWakeup: Sendable {
    // Never freed. GLib's functions on it are thread-safe.
    private nonisolated(unsafe) let source: UnsafeMutablePointer<GSource>
    private let descriptor: Int32
    private let isTimed: Bool

    /// - Parameters:
    ///   - name: the name of the source, for debugging.
    ///   - priority: the priority of the source.
    ///   - isTimed: true for a timer, false for an immediate wake-up.
    ///   - functions: the functions to call; must live as long as the program.
    init(_ name: StaticString, priority: Int32, isTimed: Bool, calls functions: UnsafeMutablePointer<GSourceFuncs>) {
        self.isTimed = isTimed
        descriptor = isTimed ? webimage_gtk_alarm_new() : webimage_gtk_wakeup_new()
        source = g_source_new(functions, guint(MemoryLayout<GSource>.size))
        g_source_set_priority(source, priority)
        // The called function may run a nested main loop, as a dialog does.
        g_source_set_can_recurse(source, 1)
        g_source_set_static_name(source, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
        if descriptor >= 0 { g_source_add_unix_fd(source, descriptor, G_IO_IN) }
    }

    /// Attaches the source to the main context. Call it once the receiver of the calls exists.
    func attach() { g_source_attach(source, nil) }

    /// Wakes the loop, at once or after a delay.
    ///
    /// - Parameter milliseconds: the minimum delay; ignored unless it is timed.
    func ring(after milliseconds: UInt32 = 0) {
        if descriptor < 0 {
            g_source_set_ready_time(source, isTimed ? g_get_monotonic_time() + gint64(milliseconds) * 1000 : 0)
        } else if isTimed {
            webimage_gtk_alarm_set(descriptor, max(milliseconds, 1))
        } else {
            webimage_gtk_wakeup_signal(descriptor)
        }
    }

    /// Stops the calls.
    func silence() {
        if descriptor < 0 {
            g_source_set_ready_time(source, -1)
        } else if isTimed {
            webimage_gtk_alarm_set(descriptor, 0)
        } else {
            webimage_gtk_wakeup_clear(descriptor)
        }
    }
}
