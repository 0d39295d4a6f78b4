import CWebImageGTK4

/// A strong reference to a GTK object. For the main thread; released from any thread, it drops its reference on the main thread.
@MainActor
final class ObjectReference {
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

    /// Takes ownership of a reference of the caller.
    init(adopting pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    /// Adds a reference; takes ownership of a floating one.
    init(retaining pointer: UnsafeMutableRawPointer) { self.pointer = g_object_ref_sink(pointer) }

    isolated deinit { g_object_unref(pointer) }
}

/// A weak reference to a GTK object. For the main thread.
@MainActor
final class WeakObject {
    private nonisolated(unsafe) let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

    init(_ pointer: UnsafeMutableRawPointer) { g_weak_ref_init(reference, pointer) }

    /// The object; nil after it has been finalized.
    var pointer: UnsafeMutableRawPointer? {
        guard let pointer = g_weak_ref_get(reference) else { return nil }
        // Dropping the reference is safe: another one exists, and widgets are released only on this thread.
        g_object_unref(pointer)
        return pointer
    }

    deinit {
        g_weak_ref_clear(reference)
        reference.deallocate()
    }
}
