import CWebImageGTK4

/// Tick callbacks of a widget.
@MainActor
enum FrameTicks {
    /// - Parameters:
    ///   - widget: the widget; its finalization ends the callbacks.
    ///   - body: called before each frame is laid out; returns false to end.
    /// - Returns: the identifier for `gtk_widget_remove_tick_callback`.
    static func begin(on widget: Widget, _ body: @escaping @MainActor () -> Bool) -> guint {
        gtk_widget_add_tick_callback(
            widget,
            { _, _, data in
                guard let data else { return 0 }
                nonisolated(unsafe) let box = data
                return MainActor.assumeIsolated { Unmanaged<Body>.fromOpaque(box).takeUnretainedValue().body() ? 1 : 0 }
            },
            Unmanaged.passRetained(Body(body)).toOpaque(),
            { if let data = $0 { Unmanaged<Body>.fromOpaque(data).release() } }
        )
    }

    private final class Body: Sendable {
        let body: @MainActor () -> Bool
        init(_ body: @escaping @MainActor () -> Bool) { self.body = body }
    }
}
