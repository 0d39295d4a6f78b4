/// Runs shared work: the driver of ``WorkGraph``.
///
/// The graph makes every decision under one lock; its actions are performed after the lock is released. Callbacks run on the
/// thread that ended the work.
package final class Pipeline: Sendable {
    typealias Subscription = WorkGraph<WorkJob>.Subscription
    private typealias Action = WorkGraph<WorkJob>.Action

    /// A subscriber of a job.
    struct Subscriber: Sendable {
        /// The options that few subscribers need.
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

        /// Returns whether it accepts values of a kind.
        func takes(_ kind: WorkValue.Kind) -> Bool { extras?.values?.kinds.contains(kind) ?? false }
    }

    private struct State {
        var graph = WorkGraph<WorkJob>()
        /// The number of subscribers to progress.
        var listenerCount = 0
        /// The latest progress of jobs without listeners: progress is frequent, and passing it through the graph is not free.
        var unheard: [ObjectIdentifier: (job: WorkJob, progress: LoadProgress)] = [:]
        /// The number of times that running work was joined.
        var joinCount = 0
        let partialCount: Counter

        /// Passes the recorded progress on to the graph, so that the first listener receives it by joining.
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

    /// The pipeline that managers share, so that loads of the same image are coalesced across managers.
    static let shared = Pipeline()

    /// The threads for decoding and transforming.
    let decodeQueue: WorkQueue
    package let gate: BackPressureLimiter
    /// The memory limit of decoded images.
    let budget: DecodedMemoryBudget
    /// The clock of event times.
    let clock: ClockSource
    /// The counters of all work.
    let totals = WorkTotals()
    /// The loads that other machines may wait for.
    let sharedLoads = SharedLoads()
    /// The queue for progress closures.
    private let progressQueue: CallbackQueue
    /// The number of running loads that are observed.
    private let observedCount = Counter()
    /// The number of subscribers to partial data. Usually 0, so that most loads check nothing else.
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
        gate = BackPressureLimiter(limit: undecodedByteLimit)
        state = Lock(State(partialCount: partialCount))
    }

    /// The number of running works.
    package var runningCount: Int { state.withLock { $0.graph.nodeCount } }
    /// The number of subscribed callers and dependents.
    package var waitingCount: Int { state.withLock { $0.graph.subscriptionCount } }
    /// The number of subscribers to partial data.
    var partialTakerCount: Int { partialCount.value }
    /// The number of times that work was joined which was running, or whose result was still available.
    var joinCount: Int { state.withLock { $0.joinCount } }

    /// True if any load is observed; otherwise events are not even created.
    @inline(__always)
    var isObserved: Bool { observedCount.value > 0 }

    func observationBegan() { observedCount.add() }
    func observationEnded() { observedCount.add(-1) }

    /// Joins `work`, starting it if it is not running.
    ///
    /// - Parameters:
    ///   - parent: The job that depends on it; if it has ended, nothing happens.
    ///   - progress: Called zero or more times before `completion`, on background threads that nothing else waits for.
    ///   - observation: Receives the events of the work.
    ///   - isCounted: True if joining running work counts in statistics.
    ///   - values: Receives values of some kinds, zero or more times before `completion`.
    ///   - completion: Called exactly once, unless the subscription is cancelled first.
    /// - Returns: A subscription for ``unsubscribe(_:)`` and ``setPriority(_:of:)``; nil if the parent has ended.
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

    /// Cancels a subscription. Returns true if it had not been completed; then it never will.
    ///
    /// - Parameters:
    ///   - note: Called first, if it had not been completed.
    ///   - end: Called last, if it had not been completed, and after pending progress.
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

    /// Returns the number of callers that wait for a job, directly or through other work.
    func callerCount(of job: WorkJob) -> Int { state.withLock { $0.graph.callerCount(of: job) } }

    /// Returns the work that a subscription finally depends on, also after its end: the download, if there is one.
    func source(of subscription: Subscription) -> WorkJob {
        if case .fetch = subscription.node.key { return subscription.node }
        return state.withLock { _ in
            var job = subscription.node
            while let source = job.links.source { job = source }
            return job
        }
    }

    /// Cancels those subscriptions that have not been completed, in this order: at once, or in the background if there are more than
    /// some hundreds.
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

    /// Changes the priority of one subscriber.
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

    /// Reports an event to the observers of all loads that wait for a job.
    func note(_ kind: WebImageLoadEvent.Kind, of job: WorkJob) {
        let note = WorkNote(kind, at: clock.monotonicNanoseconds())
        update { $0.graph.tell(.note(note), of: job) }
    }

    /// Sends a value to the subscribers of a job that accept it.
    func send(_ value: WorkValue, from job: WorkJob) { update { $0.graph.tell(.value(value), of: job) } }

    /// Returns whether any subscriber accepts partial data of the body that a job loads; may change at any time.
    func wantsPartialData(of job: WorkJob) -> Bool {
        partialCount.value > 0 && state.withLock { $0.graph.hasReceiver(of: job) { $0.takes(.partial) } }
    }

    /// Returns whether any caller accepts values of a kind from a job; may change at any time.
    func wants(_ kind: WorkValue.Kind, of job: WorkJob) -> Bool {
        state.withLock { $0.graph.hasReceiver(of: job) { $0.takes(kind) } }
    }

    /// Makes work available under another key, too. Returns false if work of that key is already running.
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

    /// Performs the part of the actions that needs the lock.
    private func settle(_ actions: [Action], _ state: inout State) {
        for action in actions {
            switch action {
            case .cancel(let job): state.forget(job)
            case .deliver(let subscriber, _, _), .forget(let subscriber): state.forget(subscriber)
            // The lock orders events that come from several threads.
            case .progress(let subscriber, let progress):
                subscriber.extras?.observation?.post(.progress(progress), at: clock.monotonicNanoseconds())
            case .note(let subscriber, let note): subscriber.extras?.observation?.post(note.kind, at: note.time)
            case .start, .setPriority, .value, .discard: break
            }
        }
    }

    /// Performs the actions outside the lock. Objects owned by actions, including callers' closures, are released with them
    /// outside the lock, too.
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
                    // A job that is cancelled while its result is delivered to several subscribers receives nothing.
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
