public import FoundationEssentials

/// One load of one caller.
///
/// Its completion is always called on the callback queue: with the image, an error, or ``WebImageError/Code/cancelled``. It is
/// called once, unless a result is not ``WebImageResult/isFinal``: then further calls may follow.
public final class WebImageLoadOperation: WebImageOperation {
    typealias Completion = @Sendable (Result<WebImageResult, WebImageError>) -> Void

    /// The receiver of the results.
    enum Receiver: Sendable {
        /// Receives each image as it arrives.
        case each(Completion)
        /// Receives only one result: the final image, with any error that followed it.
        case last(Completion)
        /// Receives each image, and is notified which is the last.
        case deliveries(@Sendable (Delivery) -> Void)
        /// Receives the original bytes and no image; empty data from a load that only stores them on disk.
        case data(@Sendable (Result<Data, WebImageError>) -> Void)
        /// Receives the image as encoded bytes.
        case encoded(@Sendable (Result<EncodedImage, WebImageError>) -> Void)
    }

    /// A delivery of a load.
    package enum Delivery: Sendable {
        /// A preview, or an image that is being refreshed; another delivery follows.
        case interim(WebImageResult)
        /// The last delivery.
        case last(Result<WebImageResult, WebImageError>)
        /// The interim result before was the last.
        case nothingMore
    }

    private struct State {
        /// Nil after the load has ended.
        var receiver: Receiver?
        /// Delivers the results in order and one at a time, also on a concurrent queue; nil before the first interim result.
        var mailbox: CallbackMailbox?
        var subscription: Pipeline.Subscription?
        /// The number of times that shared work was started.
        var turn: UInt32 = 0
        /// The caller's latest priority; nil if never set.
        var priority: LoadPriority?
        var isCancelled = false
        /// The source and content hash of the interim image that another may follow; the hash is 0 if unknown.
        var interim: (hash: UInt64, source: ImageCacheType)?
        /// For a receiver of only one result: that image as the final one, with any error that followed it.
        var held: (@Sendable (WebImageError?) -> WebImageResult)?
    }

    private static let lastNumber = Counter()
    /// Later loads have higher numbers.
    let number = UInt64(lastNumber.add())
    /// The URL to load; nil if the caller's string was not a valid URL.
    public let url: URL?
    private let callbackQueue: CallbackQueue
    private let pipeline: Pipeline
    private let totals: LoadTotals?
    /// Nil if the load has no observer.
    let observation: LoadObservation?
    /// The list that may hold the load until it ends.
    private let running: Lock<[UInt64: WebImageLoadOperation]>?
    private let state: Lock<State>

    init(
        url: URL?,
        callbackQueue: CallbackQueue,
        pipeline: Pipeline,
        totals: LoadTotals? = nil,
        observation: LoadObservation? = nil,
        running: Lock<[UInt64: WebImageLoadOperation]>? = nil,
        receiver: Receiver
    ) {
        self.running = running
        self.url = url
        self.totals = totals
        self.observation = observation
        self.callbackQueue = callbackQueue
        self.pipeline = pipeline
        state = Lock(State(receiver: receiver))
    }

    /// A Boolean value that indicates whether ``cancel()`` was called before the end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// A Boolean value that indicates whether the load has ended: nothing more is delivered, except what already waits for the
    /// callback queue.
    public var isFinished: Bool { state.withLock { $0.receiver == nil } }

    /// The content hash of the interim image that another may follow (0 if unknown); nil before.
    var interimHash: UInt64? { state.withLock { $0.interim?.hash } }

    /// True if the receiver takes only one result.
    var takesOneResult: Bool {
        state.withLock { state in
            if case .last? = state.receiver { return true }
            return false
        }
    }

    /// True until the last delivery.
    var isRunning: Bool { !isFinished }

    /// Cancels the load. Its completion is called now (on the callback queue) with ``WebImageError/Code/cancelled``, also after a
    /// result that was not final. Work without other subscribers stops.
    public func cancel() { Self.cancel([self], in: pipeline) }

    /// Cancels loads in this order: all of them unsubscribe from their work, in the background if there are very many, and are then
    /// notified.
    static func cancel(_ loads: [WebImageLoadOperation], in pipeline: Pipeline) {
        let endings = loads.map { $0.takeEnd(isCancelled: true) }
        pipeline.unsubscribe(endings.compactMap(\.subscription))
        for (load, ending) in zip(loads, endings) { load.finish(ending, with: .failure(.cancelled(load.url))) }
    }

    /// Changes the priority of the load while it runs.
    public func setPriority(_ priority: LoadPriority) {
        let subscription = state.withLock { state in
            state.priority = priority
            return state.subscription
        }
        if let subscription { pipeline.setPriority(priority, of: subscription) }
    }

    /// Subscribes this load to shared work, in place of the previous work, which is cancelled if it has not ended. Does nothing
    /// after the load has ended, and unsubscribes if that happens meanwhile.
    func subscribe(
        to work: any Work,
        priority: LoadPriority,
        progress: (@Sendable (LoadProgress) -> Void)?,
        values: WorkValue.Receiver? = nil,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) {
        let turn = state.withLock {
            state -> (number: UInt32, priority: LoadPriority, former: Pipeline.Subscription?)? in
            guard state.receiver != nil else { return nil }
            state.turn &+= 1
            defer { state.subscription = nil }
            return (state.turn, state.priority ?? priority, state.subscription)
        }
        guard let turn else { return }
        if let former = turn.former { pipeline.unsubscribe(former) }
        let subscription = pipeline.subscribe(
            to: work,
            priority: turn.priority,
            progress: progress.map { whileRunning($0) },
            observation: observation,
            values: values,
            completion: completion
        )
        guard let subscription else { return }
        let latest = state.withLock { state -> LoadPriority? in
            // Work that ends at once may have started other work, which is then what the load waits for.
            guard state.receiver != nil, state.turn == turn.number else { return nil }
            state.subscription = subscription
            return state.priority ?? turn.priority
        }
        guard let latest else {
            pipeline.unsubscribe(subscription)
            return
        }
        if latest != turn.priority { pipeline.setPriority(latest, of: subscription) }
    }

    /// Suppresses progress after the end: a cancel that comes before the subscription is known cannot unsubscribe yet.
    private func whileRunning(
        _ progress: @escaping @Sendable (LoadProgress) -> Void
    ) -> @Sendable (LoadProgress) -> Void {
        { [self] in if isRunning { progress($0) } }
    }

    /// Delivers a preview, or an image that is being refreshed. Ignored after the end.
    func deliver(_ interim: WebImageResult, isPreview: Bool = false) {
        let mailbox = state.withLock { state -> CallbackMailbox? in
            guard let receiver = state.receiver else { return nil }
            let mailbox = state.mailbox ?? CallbackMailbox(callbackQueue)
            state.mailbox = mailbox
            if !isPreview { state.interim = (interim.image.metadata.sourceHash, interim.cacheType) }
            // Under the lock, so that no end of the load gets in before it.
            switch receiver {
            case .each(let completion): mailbox.append { completion(.success(interim)) }
            case .last: if !isPreview { state.held = { interim.asLast(refreshError: $0) } }
            case .deliveries(let body): mailbox.append { body(.interim(interim)) }
            case .data, .encoded: break
            }
            return mailbox
        }
        guard let mailbox else { return }
        if !isPreview { observation?.note(.deliveredInterim(interim.cacheType)) }
        mailbox.deliver()
    }

    /// Ends the load; only the first call counts.
    ///
    /// - Parameter leavesWork: True if shared work that it waits for has not ended, and is left to its other subscribers.
    func end(_ result: Result<WebImageResult, WebImageError>, leavesWork: Bool = false) {
        let ending = takeEnd()
        if leavesWork, let subscription = ending.subscription { pipeline.unsubscribe(subscription) }
        finish(ending, with: result)
    }

    /// Ends a load of bytes, which were found on disk or come from a loader.
    func end(_ data: Data, from source: ImageCacheType) {
        let ending = takeEnd()
        guard case .data(let completion)? = ending.receiver else { return }
        leave()
        observation?.end(.delivered(source))
        callbackQueue.async { completion(.success(data)) }
    }

    /// Ends a load of an encoded image.
    func end(_ image: EncodedImage) {
        let ending = takeEnd()
        guard case .encoded(let completion)? = ending.receiver else { return }
        leave()
        observation?.end(.delivered(image.source))
        callbackQueue.async { completion(.success(image)) }
    }

    private func finish(_ ending: State, with result: Result<WebImageResult, WebImageError>) {
        guard let receiver = ending.receiver else { return }
        if case .failure(let error) = result { leave(error) } else { leave() }
        observation?.end(result)
        switch receiver {
        case .each(let completion): call(ending.mailbox) { completion(result) }
        case .last(let completion):
            guard case .failure(let error) = result, error.code != .cancelled, let held = ending.held else {
                return call(ending.mailbox) { completion(result) }
            }
            call(ending.mailbox) { completion(.success(held(error))) }
        case .deliveries(let body): call(ending.mailbox) { body(.last(result)) }
        case .data(let completion): callbackQueue.async { completion(result.map { _ in Data() }) }
        case .encoded(let completion):
            // Only errors get here.
            if case .failure(let error) = result { callbackQueue.async { completion(.failure(error)) } }
        }
    }

    /// Ends the load without another call of the completion: the interim result delivered before was the last.
    func endQuietly() {
        let ending = takeEnd()
        guard let receiver = ending.receiver else { return }
        guard let interim = ending.interim else {
            // Otherwise the load would never complete.
            let error = WebImageError(.cacheNotModified, "the load ended without an image")
            return finish(ending, with: .failure(error))
        }
        leave()
        observation?.end(.delivered(interim.source))
        switch receiver {
        case .last(let completion):
            if let held = ending.held { call(ending.mailbox) { completion(.success(held(nil))) } }
        case .deliveries(let body): call(ending.mailbox) { body(.nothingMore) }
        case .each, .data, .encoded: break
        }
    }

    /// Calls the receiver for the last time, after all earlier deliveries.
    private func call(_ mailbox: CallbackMailbox?, _ body: @escaping @Sendable () -> Void) {
        guard let mailbox else { return callbackQueue.async(body) }
        mailbox.append(body)
        mailbox.deliver()
    }

    /// Counts the end and removes the load from the manager's list.
    private func leave(_ error: WebImageError? = nil) {
        totals?.noteEnd(error)
        let ended = running?.withLock { $0.removeValue(forKey: number) }
        withExtendedLifetime(ended) {}
    }

    /// Takes the state of a load; empty if it had ended before. In one critical section: between two,
    /// ``subscribe(to:priority:progress:completion:)`` could leave work that nobody cancels.
    private func takeEnd(isCancelled: Bool = false) -> State {
        state.withLock { state in
            guard state.receiver != nil else { return State() }
            defer { state = State(isCancelled: isCancelled, interim: state.interim) }
            return state
        }
    }
}
