import CWebImageGTK4

/// A closure connected to a signal that returns nothing and whose first argument is an object. Disconnected by ``disconnect()``, or when
/// the object is finalized.
@MainActor
struct ObjectSignal {
    private let object: WeakObject
    private let handler: gulong

    /// - Parameters:
    ///   - name: the name of a signal without a return value.
    ///   - object: the emitter; it retains the closure.
    ///   - body: called with the first argument, which it must not keep without a reference.
    @discardableResult
    init(
        _ name: String,
        of object: UnsafeMutableRawPointer,
        _ body: @escaping @MainActor (_ argument: UnsafeMutableRawPointer) -> Void
    ) {
        self.object = WeakObject(object)
        let call: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void = { data, object in
            guard let object else { return }
            nonisolated(unsafe) let (box, argument) = (data, object)
            MainActor.assumeIsolated {
                Unmanaged<ObjectSignalBody>.fromOpaque(box).takeUnretainedValue().body(argument)
            }
        }
        let release: GClosureNotify = { box, _ in
            if let box { Unmanaged<ObjectSignalBody>.fromOpaque(box).release() }
        }
        handler = g_signal_connect_data(
            object,
            name,
            unsafeBitCast(call, to: GCallback.self),
            Unmanaged.passRetained(ObjectSignalBody(body)).toOpaque(),
            release,
            webimage_gtk_connect_swapped
        )
    }

    /// Disconnects the closure.
    func disconnect() {
        guard let pointer = object.pointer, g_signal_handler_is_connected(pointer, handler) != 0 else { return }
        g_signal_handler_disconnect(pointer, handler)
    }
}

private final class ObjectSignalBody: Sendable {
    let body: @MainActor (UnsafeMutableRawPointer) -> Void
    init(_ body: @escaping @MainActor (UnsafeMutableRawPointer) -> Void) { self.body = body }
}
