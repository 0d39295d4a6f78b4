import Dispatch

/// Runs closures later; tests replace it to control time.
package struct DelaySource: Sendable {
    /// Calls `body` once after that many nanoseconds, on any thread. The returned closure cancels it: `body` is released and,
    /// unless it is just being called, never called. No effect afterwards.
    package var after: @Sendable (_ nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    package init(
        after:
            @escaping @Sendable (_ nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
    ) {
        self.after = after
    }

    /// The system's timers.
    package static let system = DelaySource { nanoseconds, body in
        // Only the empty shell waits until the deadline: nothing that the body owns outlives a cancel.
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
