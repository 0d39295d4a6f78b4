import Dispatch

/// Wakes a cache that nobody asks anything. It stops when the object goes.
final class MaintenanceTimer: @unchecked Sendable {
    // Sendable because a dispatch source may be used from any thread at once.
    private let source: any DispatchSourceTimer

    /// - Parameter fire: called on a thread of Dispatch.
    init(_ fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        source.schedule(deadline: .distantFuture)
        source.setEventHandler(handler: fire)
        source.activate()
    }

    deinit { source.cancel() }

    /// Fires once, so many seconds from now and a little later if that saves a wake-up, in place of what was asked for
    /// before; never, if nil.
    func fire(after seconds: Double?) {
        guard let seconds else { return source.schedule(deadline: .distantFuture) }
        let milliseconds = Int(min(max(seconds, 0.001), 1e9) * 1000)
        source.schedule(
            deadline: .now() + .milliseconds(milliseconds),
            leeway: .milliseconds(min(milliseconds / 10, 60_000))
        )
    }
}
