/// Calls a caller's progress closure on background threads, so that it may take its time: the threads that find out about progress
/// have others to serve.
///
/// Readings arrive in order, one at a time, and none after the end, which waits for those that are on their way. They never go back:
/// a further attempt is heard of once it has got further than the one before. A closure that cannot keep up misses some.
package final class ProgressRelay: Sendable {
    package typealias Body = @Sendable (LoadProgress) -> Void

    private struct State {
        var body: Body?
        var pending = FIFOList<LoadProgress>()
        var latest: LoadProgress?
        var isOver = false
    }

    /// Readings that wait for the closure; after that many, the latest takes the place of the one before.
    static let capacity = 64

    private let mailbox: CallbackMailbox
    private let state: Lock<State>

    /// A relay to a closure.
    package init(queue: CallbackQueue = .global, _ body: @escaping Body) {
        mailbox = CallbackMailbox(queue)
        state = Lock(State(body: body))
    }

    /// Leaves readings.
    var receiver: Body { { self.post($0) } }

    /// Leaves a reading. Calls nobody.
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

    /// Takes no more readings, and calls `body` after those that are on their way: at once when there are none.
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
            // What the closure owns is released outside the lock, before anybody learns of the end.
            withExtendedLifetime(state.withLock { $0.body.take() }) {}
            body()
        }
        if !mailbox.appendIfBusy(finish) { finish() }
    }
}

extension ProgressRelay? {
    /// Ends the relay, if there is one, and calls `completion` after the readings that are on their way. A cancel drops those.
    package func end<Value>(_ result: Result<Value, WebImageError>, _ completion: @escaping @Sendable () -> Void) {
        guard let self else { return completion() }
        var isCancelled = false
        if case .failure(let error) = result { isCancelled = error.code == .cancelled }
        self.end(drops: isCancelled, completion)
    }
}

extension LoadProgress {
    /// Whether more has come, or as much of another length.
    fileprivate func isAfter(_ other: LoadProgress) -> Bool {
        receivedByteCount > other.receivedByteCount
            || receivedByteCount == other.receivedByteCount && expectedByteCount != other.expectedByteCount
    }
}
