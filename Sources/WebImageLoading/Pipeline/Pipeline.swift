/// Runs shared work: the driver around ``WorkGraph``.
///
/// Every decision is made by the graph under one lock; what it decides is done after the lock is released. Callbacks run
/// on whichever thread ended the work.
package final class Pipeline: Sendable {
    typealias Subscription = WorkGraph<WorkJob>.Subscription
    private typealias Action = WorkGraph<WorkJob>.Action

    /// Who waits for a job.
    struct Subscriber: Sendable {
        /// What few subscribers want.
        fileprivate final class Extras: Sendable {
            let progress: ProgressRelay?
            let observation: LoadObservation?
            let values: WorkValue.Receiver?

            init(progress: ProgressRelay?, observation: LoadObservation?, values: WorkValue.Receiver?) {
                (self.progress, self.observation, self.values) = (progress, observation, values)
            }
        }

        fileprivate let extras: Extras?
        fileprivate let completion: @Sendable (WorkResult) -> Void

        fileprivate var wantsProgress: Bool { extras?.progress != nil || extras?.observation != nil }

        /// Whether it takes values of a kind.
        func takes(_ kind: WorkValue.Kind) -> Bool { extras?.values?.kinds.contains(kind) ?? false }
    }

    private struct State {
        var graph = WorkGraph<WorkJob>()
        /// Subscribers who want to hear of progress.
        var listenerCount = 0
        /// How far jobs are, as long as nobody listens: progress comes often, and passing it through the graph is not free.
        var unheard: [ObjectIdentifier: (job: WorkJob, progress: LoadProgress)] = [:]
        /// How often work was joined that ran already.
        var joinCount = 0
        let partialCount: Counter

        /// Tells the graph what it was not told while nobody listened; the first who does learns it by joining.
        mutating func tellGraphOfUnheard() {
            for (job, progress) in unheard.values { _ = graph.tell(.progress(progress), of: job) }
            unheard = [:]
        }

        mutating func forget(_ job: WorkJob) { if !unheard.isEmpty { unheard[ObjectIdentifier(job)] = nil } }

        mutating func forget(_ subscriber: Subscriber) {
            if subscriber.wantsProgress { listenerCount -= 1 }
            if subscriber.takes(.partial) { partialCount.add(-1) }
        }
    }

    /// The pipeline that managers share, so that two managers' loads of one picture are one.
    static let shared = Pipeline()

    /// Threads that decode and transform.
    let decodeQueue: WorkQueue
    package let gate: LoadGate
    /// What decoded pictures may take of memory.
    let budget: DecodedMemoryBudget
    /// Where events get their times from.
    let clock: ClockSource
    /// What has been done in all.
    let totals = WorkTotals()
    /// Where progress closures are called.
    private let progressQueue: CallbackQueue
    /// Loads under way that somebody observes.
    private let observedCount = Counter()
    /// Most loads have nobody who wants bytes of a body that is still arriving, and look no further.
    private let partialCount = Counter()
    private let state: Lock<State>

    package init(
        decodeQueue: WorkQueue = CodingQueue.shared,
        undecodedByteLimit: Int = 64 << 20,
        budget: DecodedMemoryBudget = .shared,
        clock: ClockSource = .system,
        progressQueue: CallbackQueue = .global
    ) {
        self.decodeQueue = decodeQueue
        self.progressQueue = progressQueue
        self.budget = budget
        self.clock = clock
        gate = LoadGate(limit: undecodedByteLimit)
        state = Lock(State(partialCount: partialCount))
    }

    /// Pieces of work that run.
    package var runningCount: Int { state.withLock { $0.graph.nodeCount } }
    /// Callers and dependents that wait.
    package var waitingCount: Int { state.withLock { $0.graph.subscriptionCount } }
    /// Subscribers who take bytes of bodies that are still arriving.
    var partialTakerCount: Int { partialCount.value }
    /// How often work was joined that ran already, or whose result was still at hand.
    var joinCount: Int { state.withLock { $0.joinCount } }

    /// Whether anybody observes a load; as long as nobody does, events are not even made.
    @inline(__always)
    var isObserved: Bool { observedCount.value > 0 }

    func observationBegan() { observedCount.add() }
    func observationEnded() { observedCount.add(-1) }

    /// Joins `work`, starting it if nobody has.
    ///
    /// - Parameters:
    ///   - parent: the job that depends on it; if that has ended, nothing happens.
    ///   - progress: called zero or more times before `completion`, on background threads that nothing else waits for.
    ///   - observation: gets the events of the work.
    ///   - isCounted: whether joining work that runs is told in statistics.
    ///   - values: gets values of some kinds, zero or more times before `completion`.
    ///   - completion: called exactly once, unless the subscription is given up first.
    /// - Returns: a place for ``unsubscribe(_:)`` and ``setPriority(_:of:)``; nil if the parent has ended.
    @discardableResult
    func subscribe(
        to work: any Work,
        priority: LoadPriority = .normal,
        parent: WorkJob? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        observation: LoadObservation? = nil,
        values: WorkValue.Receiver? = nil,
        isCounted: Bool = true,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) -> Subscription? {
        let key = work.key
        let note = isObserved ? WorkNote(.joined(key.stage), at: clock.monotonicNanoseconds()) : nil
        var extras: Subscriber.Extras?
        if progress != nil || observation != nil || values != nil {
            let relay = progress.map { ProgressRelay(queue: progressQueue, $0) }
            extras = Subscriber.Extras(progress: relay, observation: observation, values: values)
        }
        let subscriber = Subscriber(extras: extras, completion: completion)
        let (subscription, actions) = state.withLock { state -> (Subscription?, [Action]) in
            if subscriber.wantsProgress { state.tellGraphOfUnheard() }
            let joined = state.graph.subscribe(
                to: key,
                priority: priority,
                parent: parent,
                receiver: subscriber,
                joining: note
            ) { WorkJob(key, priority: $0, pipeline: self) }
            guard let joined else { return (nil, []) }
            if subscriber.wantsProgress { state.listenerCount += 1 }
            if subscriber.takes(.partial) { partialCount.add() }
            if !joined.isNew, isCounted { state.joinCount += 1 }
            settle(joined.actions, &state)
            return (joined.subscription, joined.actions)
        }
        perform(actions)
        return subscription
    }

    /// Gives a subscription up. True if it had not been completed; then it never will.
    ///
    /// - Parameters:
    ///   - note: called first, if it had not been completed.
    ///   - end: called last, if it had not been completed, and after the progress that is on its way.
    @discardableResult
    func unsubscribe(
        _ subscription: Subscription,
        noting note: () -> Void = {},
        then end: (@Sendable () -> Void)? = nil
    ) -> Bool {
        let actions = state.withLock { state -> [Action]? in
            guard let actions = state.graph.unsubscribe(subscription) else { return nil }
            settle(actions, &state)
            return actions
        }
        guard var rest = actions?[...] else { return false }
        note()
        guard let end, case .forget(let subscriber)? = rest.first else {
            perform(rest)
            return true
        }
        rest.removeFirst()
        perform(rest)
        if let relay = subscriber.extras?.progress { relay.end(drops: true, end) } else { end() }
        return true
    }

    /// Callers that wait for a piece of work, directly or through other work.
    func callerCount(of job: WorkJob) -> Int { state.withLock { $0.graph.callerCount(of: job) } }

    /// The work that a subscription depends on in the end, also after the end: where there is one, the download.
    func source(of subscription: Subscription) -> WorkJob {
        if case .fetch = subscription.node.key { return subscription.node }
        return state.withLock { _ in
            var job = subscription.node
            while let source = job.links.source { job = source }
            return job
        }
    }

    /// Gives up those of the subscriptions that have not been completed, in this order: at once, or in the background if there are more
    /// than some hundreds.
    func unsubscribe(_ subscriptions: [Subscription]) {
        let atOnce = 512
        guard subscriptions.count > atOnce else { return leave(subscriptions[...]) }
        CallbackQueue.global.async { [self] in
            for start in stride(from: 0, to: subscriptions.count, by: atOnce) {
                leave(subscriptions[start..<min(start + atOnce, subscriptions.count)])
            }
        }
    }

    private func leave(_ subscriptions: ArraySlice<Subscription>) {
        update { state in subscriptions.flatMap { state.graph.unsubscribe($0) ?? [] } }
    }

    /// Makes the work more or less urgent for one subscriber.
    func setPriority(_ priority: LoadPriority, of subscription: Subscription) {
        update { $0.graph.setPriority(priority, of: subscription) }
    }

    func report(_ progress: LoadProgress, of job: WorkJob) {
        update { state in
            guard state.listenerCount > 0 else {
                if job.links.isRunning { state.unheard[ObjectIdentifier(job)] = (job, progress) }
                return []
            }
            return state.graph.tell(.progress(progress), of: job)
        }
    }

    /// Passes an event on to the observers of all loads that wait for a piece of work.
    func note(_ kind: WebImageLoadEvent.Kind, of job: WorkJob) {
        let note = WorkNote(kind, at: clock.monotonicNanoseconds())
        update { $0.graph.tell(.note(note), of: job) }
    }

    /// Sends a value to those who wait for a piece of work and take it.
    func send(_ value: WorkValue, from job: WorkJob) { update { $0.graph.tell(.value(value), of: job) } }

    /// Whether anybody takes bytes of the body that a piece of work gets, before it is whole; may change at any time.
    func wantsPartialData(of job: WorkJob) -> Bool {
        partialCount.value > 0 && state.withLock { $0.graph.hasReceiver(of: job) { $0.takes(.partial) } }
    }

    /// Lets work be found by another key, too. False if that key's work runs already.
    func alias(_ job: WorkJob, as key: WorkKey) -> Bool { state.withLock { $0.graph.alias(job, as: key) } }

    func finish(_ job: WorkJob, with result: WorkResult) {
        update { state in
            state.forget(job)
            return state.graph.finish(job, with: result)
        }
    }

    private func update(_ body: (inout State) -> [Action]) {
        perform(
            state.withLock { state in
                let actions = body(&state)
                settle(actions, &state)
                return actions
            }
        )
    }

    /// What of the actions is done under the lock.
    private func settle(_ actions: [Action], _ state: inout State) {
        for action in actions {
            switch action {
            case .cancel(let job): state.forget(job)
            case .deliver(let subscriber, _, _), .forget(let subscriber): state.forget(subscriber)
            // The lock is what orders events that come from several threads.
            case .progress(let subscriber, let progress):
                subscriber.extras?.observation?.post(.progress(progress), at: clock.monotonicNanoseconds())
            case .note(let subscriber, let note): subscriber.extras?.observation?.post(note.kind, at: note.time)
            case .start, .setPriority, .value, .discard: break
            }
        }
    }

    /// What is done outside the lock. What actions own, closures of callers among it, is let go of with them, outside it too.
    private func perform(_ actions: some Sequence<Action>) {
        for action in actions {
            switch action {
            case .start(let job): job.start()
            case .cancel(let job): job.cancel()
            case .setPriority(let job, let priority, let version): job.setPriority(priority, version: version)
            case .progress(let subscriber, let progress):
                subscriber.extras?.progress?.post(progress)
                subscriber.extras?.observation?.deliver()
            case .note(let subscriber, _): subscriber.extras?.observation?.deliver()
            case .deliver(let subscriber, let parent, let result):
                (subscriber.extras?.progress).end(result) {
                    // A job that is cancelled while its result is handed out to several gets nothing.
                    if parent?.isCancelled != true { subscriber.completion(result) }
                }
            case .value(let subscriber, let parent, let value):
                if parent?.isCancelled != true { subscriber.extras?.values?.body(value) }
            case .forget(let subscriber): subscriber.extras?.progress?.end(drops: true)
            case .discard: break
            }
        }
    }
}
