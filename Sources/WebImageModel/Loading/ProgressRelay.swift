/// Calls a subscriber's progress closure on background threads, so that a slow closure does not block the threads that measure
/// progress.
///
/// Readings arrive in order, one at a time, and none after the end, which waits for those in delivery. They never decrease: a retry
/// is reported once it has got further than the attempt before. A slow closure misses some readings (throttling).
package final class ProgressRelay: Sendable {
    package typealias Body = @Sendable (LoadProgress) -> Void

    private struct State {
        var body: Body?
        var pending = FIFOList<LoadProgress>()
        var latest: LoadProgress?
        var isOver = false
    }

    /// The maximum number of pending readings; after that, the latest replaces the one before.
    static let capacity = 64

    private let mailbox: CallbackMailbox
    private let state: Lock<State>

    /// Creates a relay to a closure.
    package init(queue: CallbackQueue = .global, _ body: @escaping Body) {
        mailbox = CallbackMailbox(queue)
        state = Lock(State(body: body))
    }

    /// The closure that posts readings.
    var receiver: Body { { self.post($0) } }

    /// Posts a reading. Calls no closure on this thread.
    package func post(_ progress: LoadProgress) {
        let isNews = state.withLock { state -> Bool in
            guard !state.isOver, state.latest.map(progress.isAfter) ?? true else { return false }
            state.latest = progress
            let isFull = state.pending.count == Self.capacity
            if isFull { _ = state.pending.popLast() }
            state.pending.append(progress)
            if !isFull { mailbox.append { self.callBody() } }
            return !isFull
        }
        if isNews { mailbox.deliver() }
    }

    private func callBody() {
        let (progress, body) = state.withLock { ($0.pending.popFirst(), $0.body) }
        if let progress { body?(progress) }
    }

    /// Accepts no more readings, and calls `body` after those in delivery: at once if there are none.
    ///
    /// - Parameter drops: whether readings that have not been delivered are dropped.
    package func end(drops: Bool = false, _ body: @escaping @Sendable () -> Void = {}) {
        let isFirst = state.withLock { state -> Bool in
            if drops, !state.isOver { state.pending = FIFOList() }
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        let finish = { @Sendable [self] in
            // The closure's captures are released outside the lock, before the end is reported.
            withExtendedLifetime(state.withLock { $0.body.take() }) {}
            body()
        }
        if !mailbox.appendIfBusy(finish) { finish() }
    }
}

extension ProgressRelay? {
    /// Ends the relay, if there is one, and calls `completion` after the readings in delivery. A cancel drops those.
    package func end<Value>(_ result: Result<Value, WebImageError>, _ completion: @escaping @Sendable () -> Void) {
        guard let self else { return completion() }
        var isCancelled = false
        if case .failure(let error) = result { isCancelled = error.code == .cancelled }
        self.end(drops: isCancelled, completion)
    }
}

extension LoadProgress {
    /// Returns whether more bytes have been received, or as many of another total.
    fileprivate func isAfter(_ other: LoadProgress) -> Bool {
        receivedByteCount > other.receivedByteCount
            || receivedByteCount == other.receivedByteCount && expectedByteCount != other.expectedByteCount
    }
}
