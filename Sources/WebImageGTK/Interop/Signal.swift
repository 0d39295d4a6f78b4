import CWebImageGTK4

/// A closure connected to a signal that returns nothing. Disconnected by ``disconnect()``, or when the object is finalized.
@MainActor
package struct Signal {
    private let object: WeakObject
    private let handler: gulong

    /// Connects a closure, which receives none of the signal's arguments.
    ///
    /// - Parameters:
    ///   - name: the name of a signal without a return value: anything left in the return register would be taken for one.
    ///   - object: the emitter; it retains the closure.
    @discardableResult
    package init(_ name: String, of object: UnsafeMutableRawPointer, _ body: @escaping @MainActor () -> Void) {
        self.object = WeakObject(object)
        let call: @convention(c) (UnsafeMutableRawPointer) -> Void = { box in
            nonisolated(unsafe) let box = box
            MainActor.assumeIsolated { Unmanaged<SignalBody>.fromOpaque(box).takeUnretainedValue().body() }
        }
        let release: GClosureNotify = { box, _ in
            if let box { Unmanaged<SignalBody>.fromOpaque(box).release() }
        }
        handler = g_signal_connect_data(
            object,
            name,
            unsafeBitCast(call, to: GCallback.self),
            Unmanaged.passRetained(SignalBody(body)).toOpaque(),
            release,
            // Swapped: the closure's box is the first argument, whatever arguments the signal has.
            webimage_gtk_connect_swapped
        )
    }

    /// Disconnects the closure.
    package func disconnect() {
        guard let pointer = object.pointer, g_signal_handler_is_connected(pointer, handler) != 0 else { return }
        g_signal_handler_disconnect(pointer, handler)
    }
}

private final class SignalBody: Sendable {
    let body: @MainActor () -> Void
    init(_ body: @escaping @MainActor () -> Void) { self.body = body }
}
