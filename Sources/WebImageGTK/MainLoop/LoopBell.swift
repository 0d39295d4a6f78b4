import CWebImageGTK4
import CWebImageGTKShims

/// Has the main loop call something: now, or some time from now. It goes on ringing until it is silenced, so nothing is missed.
///
/// GLib's own ways to wake the loop hold the loop's lock meanwhile, so that the main thread wakes only to wait for it; these are file
/// descriptors, and GLib's only where there is none left. Any thread.
struct LoopBell: Sendable {
    // Never freed, and GLib's functions on it lock.
    private nonisolated(unsafe) let source: UnsafeMutablePointer<GSource>
    private let descriptor: Int32
    private let isTimed: Bool

    /// - Parameters:
    ///   - name: of the source, for people who debug.
    ///   - priority: how urgent it is.
    ///   - isTimed: whether it rings at times, or at once.
    ///   - functions: what it calls; must live as long as the program.
    init(_ name: StaticString, priority: Int32, isTimed: Bool, calls functions: UnsafeMutablePointer<GSourceFuncs>) {
        self.isTimed = isTimed
        descriptor = isTimed ? webimage_gtk_alarm_new() : webimage_gtk_wakeup_new()
        source = g_source_new(functions, guint(MemoryLayout<GSource>.size))
        g_source_set_priority(source, priority)
        // What it calls may run a loop of its own, as a dialog does.
        g_source_set_can_recurse(source, 1)
        g_source_set_static_name(source, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
        if descriptor >= 0 { g_source_add_unix_fd(source, descriptor, G_IO_IN) }
    }

    /// Has the loop look at it. Not before what it calls is there.
    func attach() { g_source_attach(source, nil) }

    /// Rings, by and by.
    ///
    /// - Parameter milliseconds: after how long; looked at by those that ring at times. They do not ring before.
    func ring(after milliseconds: UInt32 = 0) {
        if descriptor < 0 {
            g_source_set_ready_time(source, isTimed ? g_get_monotonic_time() + gint64(milliseconds) * 1000 : 0)
        } else if isTimed {
            webimage_gtk_alarm_set(descriptor, max(milliseconds, 1))
        } else {
            webimage_gtk_wakeup_signal(descriptor)
        }
    }

    /// Does not ring any more.
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
