public import FoundationEssentials

/// One load of one caller.
///
/// Its completion is called on the callback queue, whatever happens: with the picture, an error, or
/// ``WebImageError/Code/cancelled``. It is called once, unless a result says that it is not ``WebImageResult/isFinal``: then one
/// more call may come.
public final class WebImageLoadOperation: WebImageOperation {
    typealias Completion = @Sendable (Result<WebImageResult, WebImageError>) -> Void

    /// Who gets the results.
    enum Receiver: Sendable {
        /// Gets each image as it comes.
        case each(Completion)
        /// Can take only one: the last image, with what went wrong after it.
        case last(Completion)
        /// Gets each image, and hears which is the last.
        case deliveries(@Sendable (Delivery) -> Void)
        /// Gets the original bytes and no image; none from a load that brings them to disk.
        case data(@Sendable (Result<Data, WebImageError>) -> Void)
    }

    /// Something that a load delivers.
    package enum Delivery: Sendable {
        /// A preview, or an image that is being refreshed; another delivery follows.
        case interim(WebImageResult)
        /// Nothing follows.
        case last(Result<WebImageResult, WebImageError>)
        /// The interim result before it was the last.
        case nothingMore
    }

    private struct State {
        /// Nil when the load has ended.
        var receiver: Receiver?
        /// Delivers one after the other and in order, on a concurrent queue too; nil before the first interim result.
        var mailbox: CallbackMailbox?
        var subscription: Pipeline.Subscription?
        /// How often shared work was begun.
        var turn: UInt32 = 0
        /// What the caller said last; nil if nothing.
        var priority: LoadPriority?
        var isCancelled = false
        /// The hash of the bytes of an image after which another was announced (0 when that is not known), and where it came from.
        var interim: (hash: UInt64, source: ImageCacheType)?
        /// For a receiver who takes only one: that image as the last of its load, with what went wrong after it.
        var held: (@Sendable (WebImageError?) -> WebImageResult)?
    }

    private static let lastNumber = Counter()
    /// Later loads have higher ones.
    let number = UInt64(lastNumber.add())
    /// What is being loaded; nil if the caller's string was no URL.
    public let url: URL?
    private let callbackQueue: CallbackQueue
    private let pipeline: Pipeline
    private let totals: LoadTotals?
    /// Nil when nobody observes the load.
    let observation: LoadObservation?
    /// The list that the load may be in until it ends.
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

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the load has ended: nothing is to be delivered any more, or only what already waits for the callback queue.
    public var isFinished: Bool { state.withLock { $0.receiver == nil } }

    /// The hash of the bytes of an image after which another was announced (0 when that is not known); nil before.
    var interimHash: UInt64? { state.withLock { $0.interim?.hash } }

    /// Whether its caller can take one result alone.
    var takesOneResult: Bool {
        state.withLock { state in
            if case .last? = state.receiver { return true }
            return false
        }
    }

    /// Whether something is still to be delivered.
    var isRunning: Bool { !isFinished }

    /// Gives the load up: its completion is called now (on the callback queue) with ``WebImageError/Code/cancelled``, also after
    /// a result that was not final. Work that nobody else waits for stops.
    public func cancel() { Self.cancel([self], in: pipeline) }

    /// Cancels loads in this order: all of them leave the work that they wait for, in the background if there are very many, and are told.
    static func cancel(_ loads: [WebImageLoadOperation], in pipeline: Pipeline) {
        let endings = loads.map { $0.takeEnd(isCancelled: true) }
        pipeline.unsubscribe(endings.compactMap(\.subscription))
        for (load, ending) in zip(loads, endings) { load.finish(ending, with: .failure(.cancelled(load.url))) }
    }

    /// Makes the load more or less urgent while it runs.
    public func setPriority(_ priority: LoadPriority) {
        let subscription = state.withLock { state in
            state.priority = priority
            return state.subscription
        }
        if let subscription { pipeline.setPriority(priority, of: subscription) }
    }

    /// Begins shared work in the name of this load, in the place of what it waited for before, which is given up if it has not
    /// ended. Does nothing when the load is over, and gives the work up again if that happens meanwhile.
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
            // Work that ends at once may have begun other work, which is then what the load waits for.
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

    /// A cancel that comes before the subscription is known cannot give it up yet; it tells nothing more all the same.
    private func whileRunning(
        _ progress: @escaping @Sendable (LoadProgress) -> Void
    ) -> @Sendable (LoadProgress) -> Void {
        { [self] in if isRunning { progress($0) } }
    }

    /// Delivers a preview, or an image that is being refreshed. Nothing after the end.
    func deliver(_ interim: WebImageResult, isPreview: Bool = false) {
        let mailbox = state.withLock { state -> CallbackMailbox? in
            guard let receiver = state.receiver else { return nil }
            let mailbox = state.mailbox ?? CallbackMailbox(callbackQueue)
            state.mailbox = mailbox
            if !isPreview { state.interim = (interim.image.metadata.sourceHash, interim.cacheType) }
            // Under the lock, so that nothing that ends the load gets in before it.
            switch receiver {
            case .each(let completion): mailbox.append { completion(.success(interim)) }
            case .last: if !isPreview { state.held = { interim.asLast(refreshError: $0) } }
            case .deliveries(let body): mailbox.append { body(.interim(interim)) }
            case .data: break
            }
            return mailbox
        }
        guard let mailbox else { return }
        if !isPreview { observation?.note(.deliveredInterim(interim.cacheType)) }
        mailbox.deliver()
    }

    /// Ends the load, the first time it is called.
    ///
    /// - Parameter leavesWork: whether shared work that it waits for has not ended, and is left to those who need it.
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
        }
    }

    /// Ends the load without a further call of the completion: the interim result that was delivered before was the last.
    func endQuietly() {
        let ending = takeEnd()
        guard let receiver = ending.receiver else { return }
        guard let interim = ending.interim else {
            // It would be a load that never completes.
            let error = WebImageError(.cacheNotModified, "the load ended without a picture")
            return finish(ending, with: .failure(error))
        }
        leave()
        observation?.end(.delivered(interim.source))
        switch receiver {
        case .last(let completion):
            if let held = ending.held { call(ending.mailbox) { completion(.success(held(nil))) } }
        case .deliveries(let body): call(ending.mailbox) { body(.nothingMore) }
        case .each, .data: break
        }
    }

    /// Calls the receiver for the last time, after what was delivered before.
    private func call(_ mailbox: CallbackMailbox?, _ body: @escaping @Sendable () -> Void) {
        guard let mailbox else { return callbackQueue.async(body) }
        mailbox.append(body)
        mailbox.deliver()
    }

    /// Counts the end and takes the load off the manager's list.
    private func leave(_ error: WebImageError? = nil) {
        totals?.noteEnd(error)
        let ended = running?.withLock { $0.removeValue(forKey: number) }
        withExtendedLifetime(ended) {}
    }

    /// Takes all that a load leaves behind; empty if it had ended before. At once: between two sections
    /// ``subscribe(to:priority:progress:completion:)`` could leave work that nobody gives up.
    private func takeEnd(isCancelled: Bool = false) -> State {
        state.withLock { state in
            guard state.receiver != nil else { return State() }
            defer { state = State(isCancelled: isCancelled, interim: state.interim) }
            return state
        }
    }
}
