import FoundationEssentials

/// What happens during one load, as a sequence. Made by ``WebImageManager/events(with:options:context:)``.
public struct WebImageEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = WebImageEvent

    let manager: WebImageManager
    let url: URL
    let options: WebImageOptions
    let context: WebImageContext?

    /// An iterator; each one is a load of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    /// Waits for the next event of a load.
    public struct Iterator: AsyncIteratorProtocol {
        let events: WebImageEvents
        private var stream: AsyncThrowingStream<WebImageEvent, any Error>.Iterator?

        init(events: WebImageEvents) { self.events = events }

        /// The next event, nil after the result.
        ///
        /// - Throws: ``WebImageError``.
        public mutating func next() async throws -> WebImageEvent? {
            if stream == nil { stream = events.start().makeAsyncIterator() }
            return try await stream?.next()
        }
    }

    private func start() -> AsyncThrowingStream<WebImageEvent, any Error> {
        var context = context ?? WebImageContext()
        context.callbackQueue = .inline
        let loading = context
        let options = options.subtracting(.queryDiskDataSync)
        // Room for one event: a new reading replaces the one before, and so does the result, which comes last.
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let operation = manager.loadImage(with: url, options: options, context: loading) { progress in
                continuation.yield(.progress(progress))
            } completion: { result in
                switch result {
                case .success(let result):
                    continuation.yield(.result(result))
                    continuation.finish()
                case .failure(let error):
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { reason in
                if case .cancelled = reason { operation.cancel() }
            }
        }
    }
}
