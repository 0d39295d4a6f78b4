/// Runs shared work: the driver around ``WorkGraph``.
///
/// Every decision is made by the graph under one lock; what it decides is done after the lock is released. Callbacks run
/// on whichever thread ended the work.
final class Pipeline: Sendable {
    private struct Subscriber {
        /// What few subscribers want.
        final class Extras: Sendable {
            let progress: ProgressRelay?
            let observation: LoadObservation?
            let preview: (@Sendable (Image) -> Void)?

            init(
                progress: ProgressRelay?,
                observation: LoadObservation?,
                preview: (@Sendable (Image) -> Void)?
            ) { (self.progress, self.observation, self.preview) = (progress, observation, preview) }
        }

        let extras: Extras?
        /// The job that depends on the work. If it is cancelled it gets nothing, also while the result is being handed out to several.
        let parent: WorkJob?
        let completion: @Sendable (WorkResult) -> Void

        var progress: ProgressRelay? { extras?.progress }
        var observation: LoadObservation? { extras?.observation }
        var preview: (@Sendable (Image) -> Void)? { extras?.preview }
        func complete(_ result: WorkResult) {
            if parent?.isCancelled != true { completion(result) }
        }

        var wantsProgress: Bool { progress != nil || observation != nil }
    }

    private typealias Graph = WorkGraph<WorkKey, WorkResult, WorkNote>

    private struct State {
        var graph = Graph()
        var jobs: [UInt64: WorkJob] = [:]
        var subscribers: [UInt64: Subscriber] = [:]
        /// Subscribers who want to hear of progress.
        var listenerCount = 0
        /// How far nodes are, as long as nobody listens: progress comes often, and passing it through the graph is not free.
        var unheard: [UInt64: LoadProgress] = [:]
        /// How often work was joined that ran already.
        var joinCount = 0

        mutating func add(_ subscriber: Subscriber, _ id: UInt64) {
            subscribers[id] = subscriber
            if subscriber.wantsProgress { listenerCount += 1 }
        }

        mutating func removeSubscriber(_ id: UInt64) -> Subscriber? {
            let subscriber = subscribers.removeValue(forKey: id)
            if subscriber?.wantsProgress ?? false { listenerCount -= 1 }
            return subscriber
        }

        /// Tells the graph what it was not told while nobody listened; the first who does learns it by joining.
        mutating func tellGraphOfUnheard() {
            for (node, progress) in unheard { _ = graph.report(progress, of: node) }
            unheard = [:]
        }

        mutating func removeJob(_ node: UInt64) -> WorkJob? {
            unheard[node] = nil
            return jobs.removeValue(forKey: node)
        }
    }

    /// What has to be done outside the lock, with all that it needs. Subscribers go as a whole: their closures may own
    /// anything, and so must be let go of outside the lock, too.
    private enum Step {
        case start(WorkJob)
        case cancel(WorkJob)
        case setPriority(WorkJob, LoadPriority, version: UInt64)
        case progress(ProgressRelay, LoadProgress)
        case deliver(Subscriber, WorkResult)
        case release(Subscriber)
        case observe(LoadObservation)
        case discard([WorkNote])
    }

    /// The pipeline that managers share, so that two managers' loads of one picture are one.
    static let shared = Pipeline()

    /// Threads that decode and transform.
    let decodeQueue: WorkQueue
    let gate: LoadGate
    /// What decoded pictures may take of memory.
    let budget: DecodedMemoryBudget
    /// Downloaded bytes that are being decoded.
    let fresh = FreshData()
    /// What there is of bodies that are still arriving.
    let partialBodies = PartialBodies()
    /// Where events get their times from.
    let clock: ClockSource
    /// What has been done in all.
    let totals = WorkTotals()
    /// Where progress closures are called.
    private let progressQueue: CallbackQueue
    /// Loads under way that somebody observes.
    private let observedCount = Counter()
    private let state = Lock(State())

    init(
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
    }

    /// Pieces of work that run.
    var runningCount: Int { state.withLock { $0.graph.nodeCount } }
    /// Callers and dependents that wait.
    var waitingCount: Int { state.withLock { $0.graph.subscriptionCount } }
    /// How often work was joined that ran already, or whose result was still at hand.
    var joinCount: Int { state.withLock { $0.joinCount } + fresh.hitCount }

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
    ///   - preview: called zero or more times before `completion`, if the work makes previews.
    ///   - completion: called exactly once, unless the subscription is given up first.
    /// - Returns: a number for ``unsubscribe(_:)`` and ``setPriority(_:of:)``; nil if the parent has ended.
    @discardableResult
    func subscribe(
        to work: any Work,
        priority: LoadPriority = .normal,
        parent: WorkJob? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        observation: LoadObservation? = nil,
        preview: (@Sendable (Image) -> Void)? = nil,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) -> UInt64? {
        let key = work.key
        let note = isObserved ? WorkNote(.joined(key.stage), at: clock.monotonicNanoseconds()) : nil
        var extras: Subscriber.Extras?
        if progress != nil || observation != nil || preview != nil {
            let relay = progress.map { ProgressRelay(queue: progressQueue, $0) }
            extras = Subscriber.Extras(progress: relay, observation: observation, preview: preview)
        }
        let subscriber = Subscriber(extras: extras, parent: parent, completion: completion)
        let (id, steps) = state.withLock { state -> (UInt64?, [Step]) in
            if subscriber.wantsProgress { state.tellGraphOfUnheard() }
            let joined = state.graph.subscribe(to: key, priority: priority, parent: parent?.id, joining: note)
            guard let joined else { return (nil, []) }
            state.add(subscriber, joined.subscription)
            if state.jobs[joined.node] != nil { state.joinCount += 1 }
            if state.jobs[joined.node] == nil {
                let priority = state.graph.priority(of: joined.node) ?? priority
                state.jobs[joined.node] = WorkJob(key, id: joined.node, priority: priority, pipeline: self)
            }
            return (joined.subscription, resolve(joined.actions, &state))
        }
        perform(steps)
        return id
    }

    /// Has work done for which nobody waits.
    ///
    /// - Parameter end: called with what came of it, on the thread that ends the work.
    func keep(_ work: any Work, priority: LoadPriority, end: @escaping @Sendable (WorkResult) -> Void) {
        subscribe(to: work, priority: priority, completion: end)
    }

    /// Gives a subscription up. True if it had not been completed; then it never will.
    @discardableResult
    func unsubscribe(_ id: UInt64) -> Bool {
        let steps = state.withLock { state in state.graph.unsubscribe(id).map { resolve($0, &state) } }
        guard let steps else { return false }
        perform(steps)
        return true
    }

    /// Makes the work more or less urgent for one subscriber.
    func setPriority(_ priority: LoadPriority, of id: UInt64) {
        perform(
            state.withLock { state in
                let actions = state.graph.setPriority(priority, of: id)
                return resolve(actions, &state)
            }
        )
    }

    func report(_ progress: LoadProgress, of node: UInt64) {
        perform(
            state.withLock { state -> [Step] in
                guard state.listenerCount > 0 else {
                    if state.jobs[node] != nil { state.unheard[node] = progress }
                    return []
                }
                let actions = state.graph.report(progress, of: node)
                return resolve(actions, &state)
            }
        )
    }

    /// Passes an event on to the observers of all loads that wait for a piece of work.
    func note(_ kind: WebImageLoadEvent.Kind, of node: UInt64) {
        let note = WorkNote(kind, at: clock.monotonicNanoseconds())
        perform(
            state.withLock { state in
                let actions = state.graph.note(note, of: node)
                return resolve(actions, &state)
            }
        )
    }

    /// Gives a preview to those who wait for a piece of work; what they make of it is their affair.
    func preview(_ image: Image, of node: UInt64) {
        let receivers = state.withLock { state in
            state.graph.subscribers(of: node).compactMap { state.subscribers[$0]?.preview }
        }
        for receiver in receivers { receiver(image) }
    }

    func finish(_ node: UInt64, with result: WorkResult) {
        let steps = state.withLock { state -> [Step] in
            let actions = state.graph.finish(node, with: result)
            let steps = resolve(actions, &state)
            _ = state.removeJob(node)
            return steps
        }
        perform(steps)
    }

    private func resolve(_ actions: [Graph.Action], _ state: inout State) -> [Step] {
        var steps: [Step] = []
        steps.reserveCapacity(actions.count)
        for action in actions { resolve(action, &state, &steps) }
        return steps
    }

    private func resolve(_ action: Graph.Action, _ state: inout State, _ steps: inout [Step]) {
        switch action {
        case .start(let node):
            if let job = state.jobs[node] { steps.append(.start(job)) }
        case .cancel(let node):
            if let job = state.removeJob(node) { steps.append(.cancel(job)) }
        case .setPriority(let node, let priority, let version):
            if let job = state.jobs[node] { steps.append(.setPriority(job, priority, version: version)) }
        case .progress(let id, let progress):
            guard let subscriber = state.subscribers[id] else { return }
            if let relay = subscriber.progress { steps.append(.progress(relay, progress)) }
            if let observation = subscriber.observation {
                // Under the lock, which is what orders events that come from several threads.
                observation.post(.progress(progress), at: clock.monotonicNanoseconds())
                steps.append(.observe(observation))
            }
        case .note(let id, let note):
            guard let observation = state.subscribers[id]?.observation else { return }
            observation.post(note.kind, at: note.time)
            steps.append(.observe(observation))
        case .discard(let notes): steps.append(.discard(notes))
        case .deliver(let id, let result):
            if let subscriber = state.removeSubscriber(id) { steps.append(.deliver(subscriber, result)) }
        case .forget(let id):
            if let subscriber = state.removeSubscriber(id) { steps.append(.release(subscriber)) }
        }
    }

    private func perform(_ steps: [Step]) {
        for step in steps {
            switch step {
            case .start(let job): job.start()
            case .cancel(let job): job.cancel()
            case .setPriority(let job, let priority, let version): job.setPriority(priority, version: version)
            case .progress(let relay, let progress): relay.post(progress)
            case .deliver(let subscriber, let result):
                subscriber.progress.end(result) { subscriber.complete(result) }
            case .observe(let observation): observation.deliver()
            case .release(let subscriber): subscriber.progress?.end(drops: true)
            case .discard: break
            }
        }
    }
}
