/// Serializes the calls to one receiver: one at a time and in the order they were appended, on a callback queue.
///
/// Appending makes no call, so it is safe under the lock that orders the calls.
package final class CallbackMailbox: Sendable {
    private struct State {
        var calls: [@Sendable () -> Void] = []
        var isDelivering = false
        var isClosed = false
    }

    private let queue: CallbackQueue
    private let state = Lock(State())

    package init(_ queue: CallbackQueue) { self.queue = queue }

    /// Appends a call, to be made by ``deliver()``.
    package func append(_ call: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isClosed { $0.calls.append(call) } }
    }

    /// Makes no more calls; calls that were appended are dropped.
    package func close() {
        let dropped = state.withLock { state in
            state.isClosed = true
            defer { state.calls = [] }
            return state.calls
        }
        // They may own anything, so they are released outside the lock.
        withExtendedLifetime(dropped) {}
    }

    /// Appends a call if others are still pending or running, to be made after them. Otherwise returns false and does not keep it.
    package func appendIfBusy(_ call: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.isDelivering || !state.calls.isEmpty else { return false }
            state.calls.append(call)
            return true
        }
    }

    /// Makes the appended calls, unless another thread already does: inline or later, by the queue's policy.
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
