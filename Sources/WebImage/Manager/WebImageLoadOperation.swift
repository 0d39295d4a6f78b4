public import FoundationEssentials

/// One load of one caller.
///
/// Its completion is called on the callback queue, whatever happens: with the picture, an error, or
/// ``WebImageError/Code/cancelled``. It is called once, unless a result says that it is not ``WebImageResult/isFinal``: then one
/// more call may come.
public final class WebImageLoadOperation: WebImageOperation {
    typealias Completion = @Sendable (Result<WebImageResult, WebImageError>) -> Void
    typealias EndHandler = @Sendable () -> Void

    /// Who gets the results.
    enum Receiver: Sendable {
        /// Hears of each as it comes.
        case each(Completion)
        /// Can take one alone: the last picture, with what went wrong after it.
        case last(Completion)
        /// Hears of each, and whether it was the last.
        case deliveries(@Sendable (Delivery) -> Void)
    }

    /// Something that a load delivers.
    package enum Delivery: Sendable {
        /// Another delivery follows.
        case interim(Result<WebImageResult, WebImageError>)
        /// A picture that is still arriving; another delivery follows.
        case preview(WebImageResult)
        /// Nothing follows.
        case last(Result<WebImageResult, WebImageError>)
        /// The interim result before it was the last.
        case nothingMore
    }

    private struct State {
        /// Nil when the load has ended.
        var receiver: Receiver?
        /// Brings deliveries one after the other when there are several; nil before the first interim result.
        var mailbox: DeliveryMailbox?
        var subscription: Pipeline.Subscription?
        /// How often shared work was begun.
        var turn: UInt32 = 0
        /// What the caller said last; nil if nothing.
        var priority: LoadPriority?
        var isCancelled = false
        var endHandler: EndHandler?
        /// The hash of the bytes of an image after which another was announced (0 when that is not known); nil before.
        var interimHash: UInt64?
    }

    /// What is being loaded; nil if the caller's string was no URL.
    public let url: URL?
    private let callbackQueue: CallbackQueue
    private let pipeline: Pipeline
    private let totals: LoadTotals?
    /// Nil when nobody observes the load.
    let observation: LoadObservation?
    /// The list that the load may be in until it ends.
    private let running: Lock<RunningLoads>?
    private let state: Lock<State>

    init(
        url: URL?,
        callbackQueue: CallbackQueue,
        pipeline: Pipeline,
        totals: LoadTotals? = nil,
        observation: LoadObservation? = nil,
        running: Lock<RunningLoads>? = nil,
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

    convenience init(
        url: URL?,
        callbackQueue: CallbackQueue,
        pipeline: Pipeline,
        completion: @escaping Completion
    ) { self.init(url: url, callbackQueue: callbackQueue, pipeline: pipeline, receiver: .each(completion)) }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the load has ended: nothing is to be delivered any more, or only what already waits for the callback queue.
    public var isFinished: Bool { state.withLock { $0.receiver == nil } }

    /// The hash of the bytes of an image after which another was announced (0 when that is not known); nil before.
    var interimHash: UInt64? { state.withLock { $0.interimHash } }

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
    public func cancel() {
        let ending = takeEnd(isCancelled: true)
        if let subscription = ending.subscription { pipeline.unsubscribe(subscription) }
        finish(ending, with: .failure(.cancelled(url)))
    }

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

    /// Calls `body` once when the load has ended, before the completion, in the order of the handlers; at once if it has ended
    /// already.
    func addEndHandler(_ body: @escaping EndHandler) {
        let isOver = state.withLock { state -> Bool in
            guard state.receiver != nil else { return true }
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

    /// Begins shared work in the name of this load, in the place of what it waited for before, which is given up if it has not
    /// ended. Does nothing when the load is over, and gives the work up again if that happens meanwhile.
    func subscribe(
        to work: any Work,
        priority: LoadPriority,
        progress: (@Sendable (LoadProgress) -> Void)?,
        values: WorkValue.Receiver? = nil,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) {
        struct Turn {
            let number: UInt32
            let priority: LoadPriority
            let former: Pipeline.Subscription?
        }
        let turn = state.withLock { state -> Turn? in
            guard state.receiver != nil else { return nil }
            state.turn &+= 1
            defer { state.subscription = nil }
            return Turn(number: state.turn, priority: state.priority ?? priority, former: state.subscription)
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
        { [self] reading in
            if isRunning { progress(reading) }
        }
    }

    /// Delivers a preview. Nothing after the end, and nothing to those who can take one result alone.
    func deliver(preview: WebImageResult) {
        let mailbox = state.withLock { state -> DeliveryMailbox? in
            guard let receiver = state.receiver else { return nil }
            let mailbox = state.mailbox ?? DeliveryMailbox(callbackQueue)
            state.mailbox = mailbox
            mailbox.put(.preview(preview), for: receiver)
            return mailbox
        }
        mailbox?.deliver()
    }

    /// Delivers a result: the last one, which ends the load, or one after which another delivery may come. Nothing after the
    /// end.
    func deliver(_ result: Result<WebImageResult, WebImageError>, isLast: Bool) {
        guard !isLast else { return end(result) }
        let mailbox = state.withLock { state -> DeliveryMailbox? in
            guard let receiver = state.receiver else { return nil }
            let mailbox = state.mailbox ?? DeliveryMailbox(callbackQueue)
            state.mailbox = mailbox
            // Under the lock, so that nothing that ends the load gets in before it.
            mailbox.put(.interim(result), for: receiver)
            if case .success(let result) = result { state.interimHash = result.image.metadata.sourceHash }
            return mailbox
        }
        guard let mailbox else { return }
        if let observation, case .success(let result) = result { observation.noteInterim(result.cacheType) }
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

    private func finish(_ ending: Ending, with result: Result<WebImageResult, WebImageError>) {
        guard let receiver = ending.receiver else { return }
        totals?.noteEnd(of: result)
        leaveList()
        ending.endHandler?()
        observation?.end(result)
        if let mailbox = ending.mailbox {
            mailbox.put(.last(result), for: receiver)
            return mailbox.deliver()
        }
        switch receiver {
        case .each(let completion), .last(let completion): callbackQueue.async { completion(result) }
        case .deliveries(let body): callbackQueue.async { body(.last(result)) }
        }
    }

    /// Ends the load without a further call of the completion: the interim result that was delivered before was the last.
    func endQuietly() {
        let ending = takeEnd()
        guard let receiver = ending.receiver else { return }
        totals?.delivered.add()
        leaveList()
        ending.endHandler?()
        observation?.endWithInterim()
        // Without an interim result this would be a load that never completes; the mailbox sees to that.
        let mailbox = ending.mailbox ?? DeliveryMailbox(callbackQueue)
        mailbox.put(.nothingMore, for: receiver)
        mailbox.deliver()
    }

    private func leaveList() {
        let ended = running?.withLock { $0.remove(self) }
        withExtendedLifetime(ended) {}
    }

    /// What a load leaves behind when it ends; empty if it had ended before.
    private struct Ending {
        var receiver: Receiver?
        var mailbox: DeliveryMailbox?
        var endHandler: EndHandler?
        var subscription: Pipeline.Subscription?
    }

    /// Takes all of it at once: between two sections ``subscribe(to:priority:progress:completion:)`` could leave work that
    /// nobody gives up.
    private func takeEnd(isCancelled: Bool = false) -> Ending {
        state.withLock { state in
            guard let receiver = state.receiver else { return Ending() }
            defer {
                state.receiver = nil
                state.mailbox = nil
                state.endHandler = nil
                state.subscription = nil
            }
            if isCancelled { state.isCancelled = true }
            return Ending(
                receiver: receiver,
                mailbox: state.mailbox,
                endHandler: state.endHandler,
                subscription: state.subscription
            )
        }
    }
}
