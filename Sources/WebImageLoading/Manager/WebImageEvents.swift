import FoundationEssentials

/// A sequence of the events of one load. Returned by ``WebImageManager/events(with:options:context:)``.
public struct WebImageEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = WebImageEvent

    let manager: WebImageManager
    let url: URL
    let options: WebImageOptions
    let context: WebImageContext?

    /// Returns an iterator; each one starts a separate load.
    public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    /// Waits for the next event of a load.
    public struct Iterator: AsyncIteratorProtocol {
        let events: WebImageEvents
        private var load: RunningLoad?

        init(events: WebImageEvents) { self.events = events }

        /// Returns the next event; nil after the last result, and after an error was thrown.
        ///
        /// - Throws: ``WebImageError``, also after a cached image was delivered that could not be refreshed.
        public mutating func next() async throws -> WebImageEvent? {
            let load = load ?? events.start()
            self.load = load
            return try await withTaskCancellationHandler {
                await load.feed.next()
            } onCancel: {
                load.operation.cancel()
            }.get()
        }
    }

    /// The load being iterated; it is cancelled with the last iterator.
    private final class RunningLoad: Sendable {
        let feed: EventFeed
        let operation: WebImageLoadOperation

        init(_ feed: EventFeed, _ operation: WebImageLoadOperation) { (self.feed, self.operation) = (feed, operation) }

        deinit { operation.cancel() }
    }

    private func start() -> RunningLoad {
        let feed = EventFeed()
        let operation = manager.begin(
            url,
            manager.resolve(url, options, context).awaited,
            progress: { feed.add(.progress($0)) },
            receiver: .deliveries { delivery in
                switch delivery {
                case .interim(let result): feed.add(.result(result))
                case .last(.success(let result)):
                    feed.add(.result(result))
                    feed.finish(nil)
                case .last(.failure(let error)): feed.finish(error)
                case .nothingMore: feed.finish(nil)
                }
            }
        )
        return RunningLoad(feed, operation)
    }
}

/// Buffers events until they are read. Of consecutive progress events it keeps only the latest, so there is at most one
/// between two results, however slow the reader is. All results are kept.
final class EventFeed: Sendable {
    typealias Next = Result<WebImageEvent?, WebImageError>

    private struct State {
        var events: [WebImageEvent] = []
        var isFinished = false
        /// Thrown once.
        var error: WebImageError?
        var waiters: [@Sendable (Next) -> Void] = []

        mutating func take() -> Next? {
            if !events.isEmpty { return .success(events.removeFirst()) }
            guard isFinished else { return nil }
            defer { error = nil }
            return error.map { .failure($0) } ?? .success(nil)
        }
    }

    private let state = Lock(State())

    /// Adds an event; ignored after the end.
    func add(_ event: WebImageEvent) {
        let waiter = state.withLock { state -> (@Sendable (Next) -> Void)? in
            guard !state.isFinished else { return nil }
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            if case .progress = event, case .progress? = state.events.last { state.events.removeLast() }
            state.events.append(event)
            return nil
        }
        waiter?(.success(event))
    }

    /// Ends the feed, the first time it is called.
    func finish(_ error: WebImageError?) {
        let ready = state.withLock { state -> [(@Sendable (Next) -> Void, Next)] in
            guard !state.isFinished else { return [] }
            state.isFinished = true
            state.error = error
            defer { state.waiters = [] }
            return state.waiters.map { ($0, state.take() ?? .success(nil)) }
        }
        for (waiter, next) in ready { waiter(next) }
    }

    /// Waits for the next event; nil after the end.
    func next() async -> Next {
        await awaitCompletion { completion in
            let next = state.withLock { state -> Next? in
                let next = state.take()
                if next == nil { state.waiters.append(completion) }
                return next
            }
            if let next { completion(next) }
        }
    }
}
