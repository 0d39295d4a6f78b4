public import FoundationEssentials

/// One load of one caller.
///
/// Its completion is called exactly once, on the callback queue, whatever happens: the picture, an error, or
/// ``WebImageError/Code/cancelled``.
public final class WebImageLoadOperation: WebImageOperation {
    typealias Completion = @Sendable (Result<WebImageResult, WebImageError>) -> Void
    typealias EndHandler = @Sendable () -> Void

    private struct State {
        var completion: Completion?
        var subscription: UInt64?
        /// How often shared work was begun.
        var turn = 0
        var isCancelled = false
        var endHandler: EndHandler?
    }

    /// What is being loaded; nil if the caller's string was no URL.
    public let url: URL?
    private let callbackQueue: CallbackQueue
    private let pipeline: Pipeline
    private let state: Lock<State>

    init(url: URL?, callbackQueue: CallbackQueue, pipeline: Pipeline, completion: @escaping Completion) {
        self.url = url
        self.callbackQueue = callbackQueue
        self.pipeline = pipeline
        state = Lock(State(completion: completion))
    }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the completion has still to be called.
    var isRunning: Bool { state.withLock { $0.completion != nil } }

    /// Gives the load up: its completion is called now (on the callback queue) with ``WebImageError/Code/cancelled``.
    /// Work that nobody else waits for stops.
    public func cancel() {
        let subscription = state.withLock { state -> UInt64? in
            guard state.completion != nil else { return nil }
            state.isCancelled = true
            defer { state.subscription = nil }
            return state.subscription
        }
        if let subscription { pipeline.unsubscribe(subscription) }
        end(.failure(.cancelled(url)))
    }

    /// Makes the load more or less urgent while it runs.
    public func setPriority(_ priority: LoadPriority) {
        if let subscription = state.withLock({ $0.subscription }) { pipeline.setPriority(priority, of: subscription) }
    }

    /// Calls `body` once when the load has ended, before the completion, in the order of the handlers; at once if it has ended
    /// already.
    func addEndHandler(_ body: @escaping EndHandler) {
        let isOver = state.withLock { state -> Bool in
            guard state.completion != nil else { return true }
            guard let former = state.endHandler else {
                state.endHandler = body
                return false
            }
            state.endHandler = {
                former()
                body()
            }
            return false
        }
        if isOver { body() }
    }

    /// Begins shared work in the name of this load; gives it up again if the load was cancelled meanwhile.
    func subscribe(
        to work: any Work,
        priority: LoadPriority,
        progress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) {
        let turn = state.withLock { state in
            state.turn += 1
            return state.turn
        }
        let subscription = pipeline.subscribe(
            to: work,
            priority: priority,
            progress: progress,
            completion: completion
        )
        guard let subscription else { return }
        let isOver = state.withLock { state -> Bool in
            // What ended at once may have begun something else, which is then what the load waits for.
            if turn == state.turn { state.subscription = subscription }
            return state.completion == nil
        }
        if isOver { pipeline.unsubscribe(subscription) }
    }

    /// Begins other shared work in the place of what the load waited for, which has ended; gives it up again if the load was
    /// cancelled meanwhile.
    func replaceSubscription(
        with work: any Work,
        priority: LoadPriority,
        progress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) {
        subscribe(to: work, priority: priority, progress: progress, completion: completion)
    }

    /// Delivers a result: the last one, which ends the load, or one after which the completion is called once more. Nothing
    /// after the end.
    func deliver(_ result: Result<WebImageResult, WebImageError>, isLast: Bool) {
        guard !isLast else { return end(result) }
        guard let completion = state.withLock({ $0.completion }) else { return }
        callbackQueue.async { completion(result) }
    }

    /// Ends the load without a further call of the completion: what was delivered before was the last.
    func endQuietly() {
        let (completion, endHandler) = state.withLock { state -> (Completion?, EndHandler?) in
            defer {
                state.completion = nil
                state.endHandler = nil
                state.subscription = nil
            }
            return (state.completion, state.endHandler)
        }
        guard completion != nil else { return }
        endHandler?()
    }

    /// Ends the load, the first time it is called.
    func end(_ result: Result<WebImageResult, WebImageError>) {
        let (completion, endHandler) = state.withLock { state -> (Completion?, EndHandler?) in
            defer {
                state.completion = nil
                state.endHandler = nil
                state.subscription = nil
            }
            return (state.completion, state.endHandler)
        }
        guard let completion else { return }
        endHandler?()
        callbackQueue.async { completion(result) }
    }
}
