import Dispatch

/// Runs things later, so that tests can let the time pass themselves.
package struct DelaySource: Sendable {
    /// Calls `body` once after so many nanoseconds, on any thread. What it returns takes that back: `body` is let go of
    /// and, unless it is just being called, never called. No effect afterwards.
    package var after: @Sendable (_ nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    package init(
        after:
            @escaping @Sendable (_ nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
    ) {
        self.after = after
    }

    /// The system's timers.
    package static let system = DelaySource { nanoseconds, body in
        // What waits until the deadline is the empty shell alone: nothing of the body's outlives a cancel.
        let pending = Lock<(@Sendable () -> Void)?>(body)
        let take: @Sendable () -> (@Sendable () -> Void)? = {
            pending.withLock { pending in
                defer { pending = nil }
                return pending
            }
        }
        let deadline = DispatchTime.now() + .nanoseconds(Int(clamping: min(nanoseconds, 1 << 61)))
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: deadline) { take()?() }
        return { withExtendedLifetime(take()) {} }
    }
}
