import CWebImageGTK4

/// Something that is done with each frame of a widget.
@MainActor
enum FrameTicks {
    /// - Parameters:
    ///   - widget: what ends it with its own end.
    ///   - body: called before a frame is laid out; false ends it.
    /// - Returns: what `gtk_widget_remove_tick_callback` takes.
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
