import CWebImageGTK4
import WebImage

/// Low-memory warnings of the system daemon (or the sandbox portal), received through GLib. Kernel pressure reports do not need this.
@MainActor
enum MemoryWarnings {
    /// The monitor; nil before ``install()``. Never released, as in GLib.
    private(set) static var monitor: ObjectReference?

    /// Starts listening. Idempotent.
    static func install() {
        guard monitor == nil, let pointer = g_memory_monitor_dup_default() else { return }
        let reference = ObjectReference(adopting: UnsafeMutableRawPointer(pointer))
        monitor = reference
        // There are three levels, and warnings are rare: even the lowest one is a reason to release what is not needed.
        Signal("low-memory-warning", of: reference.pointer) { WebImageLifecycle.didReceiveMemoryWarning() }
    }
}
