import CWebImageGTK4

/// Has something done on the main thread some time from now, once, unless it is cancelled or let go of before.
@MainActor
final class MainTimer {
    private var source: guint = 0

    /// Begins to wait.
    ///
    /// - Parameters:
    ///   - seconds: at least how long; to the millisecond.
    ///   - body: not called any more after ``cancel()``.
    init(after seconds: Double, _ body: @escaping @MainActor () -> Void) {
        let box = Unmanaged.passRetained(
            Body { [weak self] in
                self?.source = 0
                body()
            }
        )
        source = g_timeout_add_full(
            // As signals are.
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

    /// Gives it up.
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
