import CWebImageGTK4

/// A counted reference to an object of GTK. For the main thread, where it ends wherever the last one goes.
@MainActor
final class ObjectReference {
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

    /// Takes over a reference that the caller has.
    init(adopting pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    /// Adds a reference; one that floats becomes this one.
    init(retaining pointer: UnsafeMutableRawPointer) { self.pointer = g_object_ref_sink(pointer) }

    isolated deinit { g_object_unref(pointer) }
}

/// A reference that does not keep its object. For the main thread.
@MainActor
final class WeakObject {
    private nonisolated(unsafe) let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

    init(_ pointer: UnsafeMutableRawPointer) { g_weak_ref_init(reference, pointer) }

    /// The object, as long as somebody else keeps it.
    var pointer: UnsafeMutableRawPointer? {
        guard let pointer = g_weak_ref_get(reference) else { return nil }
        // Whoever runs on this thread has it; nobody else lets go of widgets.
        g_object_unref(pointer)
        return pointer
    }

    deinit {
        g_weak_ref_clear(reference)
        reference.deallocate()
    }
}
