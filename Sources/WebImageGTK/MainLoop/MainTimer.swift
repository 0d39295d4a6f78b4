import CWebImageGTK4

/// Calls a closure on the main thread once after a delay, unless cancelled or released before.
@MainActor
final class MainTimer {
    private var source: guint = 0

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - seconds: the minimum delay, with millisecond resolution.
    ///   - body: the closure; never called after ``cancel()``.
    init(after seconds: Double, _ body: @escaping @MainActor () -> Void) {
        let box = Unmanaged.passRetained(
            Body { [weak self] in
                self?.source = 0
                body()
            }
        )
        source = g_timeout_add_full(
            // The priority of input events.
            Int32(G_PRIORITY_DEFAULT),
            guint(clamping: Int(min(max(seconds, 0) * 1000, 1e9))),
            { data in
                guard let data else { return 0 }
                nonisolated(unsafe) let box = data
                MainActor.assumeIsolated { Unmanaged<Body>.fromOpaque(box).takeUnretainedValue().body() }
                return 0
            },
            box.toOpaque(),
            { if let data = $0 { Unmanaged<Body>.fromOpaque(data).release() } }
        )
    }

    isolated deinit { cancel() }

    /// Cancels the timer.
    func cancel() {
        guard source != 0 else { return }
        g_source_remove(source)
        source = 0
    }

    private final class Body: Sendable {
        let body: @MainActor () -> Void
        init(_ body: @escaping @MainActor () -> Void) { self.body = body }
    }
}
