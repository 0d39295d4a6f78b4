/// Calls to one receiver: one at a time and in the order they were left, on a callback queue.
///
/// Leaving a call never calls out, so it may be done with a lock held that the calls are to be ordered by.
package final class CallbackMailbox: Sendable {
    private struct State {
        var calls: [@Sendable () -> Void] = []
        var isDelivering = false
        var isClosed = false
    }

    private let queue: CallbackQueue
    private let state = Lock(State())

    package init(_ queue: CallbackQueue) { self.queue = queue }

    /// Leaves a call; ``deliver()`` makes it.
    package func append(_ call: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isClosed { $0.calls.append(call) } }
    }

    /// Makes no more calls, those that were left included.
    package func close() {
        let dropped = state.withLock { state in
            state.isClosed = true
            defer { state.calls = [] }
            return state.calls
        }
        // They may own anything, and go outside the lock.
        withExtendedLifetime(dropped) {}
    }

    /// Leaves a call, if others have not come to their end yet; it is made after them then. Else false, and it is not kept.
    package func appendIfBusy(_ call: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.isDelivering || !state.calls.isEmpty else { return false }
            state.calls.append(call)
            return true
        }
    }

    /// Makes the calls that were left, unless somebody does already: inline or later, as the queue's policy says.
    package func deliver() {
        let isMine = state.withLock { state -> Bool in
            guard !state.isDelivering, !state.calls.isEmpty else { return false }
            state.isDelivering = true
            return true
        }
        if isMine { queue.async { self.empty() } }
    }

    private func empty() {
        while true {
            let calls = state.withLock { state -> [@Sendable () -> Void] in
                defer { state.calls = [] }
                if state.calls.isEmpty { state.isDelivering = false }
                return state.calls
            }
            if calls.isEmpty { return }
            for call in calls where !state.withLock({ $0.isClosed }) { call() }
        }
    }
}
