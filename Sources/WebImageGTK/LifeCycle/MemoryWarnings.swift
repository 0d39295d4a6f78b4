import CWebImageGTK4
import WebImage

/// What the system's daemon (or the sandbox's portal) says about memory, through GLib; the kernel's own reports come without it.
@MainActor
enum MemoryWarnings {
    /// The monitor that is listened to; nil before ``install()``. Kept for ever, as GLib keeps it.
    private(set) static var monitor: ObjectReference?

    /// Begins to listen, once.
    static func install() {
        guard monitor == nil, let pointer = g_memory_monitor_dup_default() else { return }
        let reference = ObjectReference(adopting: UnsafeMutableRawPointer(pointer))
        monitor = reference
        // Three levels, and it comes seldom: even the lowest one asks for what is not needed.
        Signal("low-memory-warning", of: reference.pointer) { WebImageLifecycle.didReceiveMemoryWarning() }
    }
}
