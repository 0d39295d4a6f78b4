import CWebImageGTK4
import Testing

/// Waits on the main thread while its loop runs.
@MainActor
enum MainLoopTurns {
    /// Waits until a condition holds, checked after each turn of the main loop, and less often if it takes long.
    ///
    /// - Returns: True if it held before `seconds` had passed.
    static func wait(seconds: Double = 20, until condition: () -> Bool) async -> Bool {
        let end = g_get_monotonic_time() + gint64(seconds * 1e6)
        var count = 0
        while !condition() {
            if g_get_monotonic_time() > end { return false }
            await one(milliseconds: count < 50 ? 1 : 5)
            count += 1
        }
        return true
    }

    /// Waits until no source as urgent as deliveries is ready, for so many milliseconds at least.
    static func one(milliseconds: UInt32 = 1) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let box = Unmanaged.passRetained(Box(continuation)).toOpaque()
            g_timeout_add_full(
                Int32(G_PRIORITY_LOW),
                milliseconds,
                { data in
                    if let data { Unmanaged<Box>.fromOpaque(data).takeRetainedValue().continuation.resume() }
                    return 0
                },
                box,
                nil
            )
        }
    }

    private final class Box: Sendable {
        let continuation: CheckedContinuation<Void, Never>
        init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
    }
}
