/// Runs shared work: the driver around ``WorkGraph``.
///
/// Every decision is made by the graph under one lock; what it decides is done after the lock is released. Callbacks run
/// on whichever thread ended the work.
final class Pipeline: Sendable {
    private struct Subscriber {
        var progress: (@Sendable (LoadProgress) -> Void)?
        var completion: @Sendable (WorkResult) -> Void
    }

    private struct State {
        var graph = WorkGraph<WorkKey, WorkResult>()
        var jobs: [UInt64: WorkJob] = [:]
        var subscribers: [UInt64: Subscriber] = [:]
        /// Subscribers who want to hear of progress.
        var listenerCount = 0
        /// How far nodes are, as long as nobody listens: progress comes often, and passing it through the graph is not free.
        var unheard: [UInt64: LoadProgress] = [:]

        mutating func add(_ subscriber: Subscriber, _ id: UInt64) {
            subscribers[id] = subscriber
            if subscriber.progress != nil { listenerCount += 1 }
        }

        mutating func removeSubscriber(_ id: UInt64) -> Subscriber? {
            let subscriber = subscribers.removeValue(forKey: id)
            if subscriber?.progress != nil { listenerCount -= 1 }
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
        case progress(@Sendable (LoadProgress) -> Void, LoadProgress)
        case deliver(Subscriber, WorkResult)
        case release(Subscriber)
    }

    /// The pipeline that managers share, so that two managers' loads of one picture are one.
    static let shared = Pipeline()

    /// Threads that decode and transform.
    let decodeQueue: WorkQueue
    let gate: LoadGate
    private let state = Lock(State())

    init(decodeQueue: WorkQueue = CodingQueue.shared, undecodedByteLimit: Int = 64 << 20) {
        self.decodeQueue = decodeQueue
        gate = LoadGate(limit: undecodedByteLimit)
    }

    /// Pieces of work that run.
    var runningCount: Int { state.withLock { $0.graph.nodeCount } }
    /// Callers and dependents that wait.
    var waitingCount: Int { state.withLock { $0.graph.subscriptionCount } }

    /// Joins `work`, starting it if nobody has.
    ///
    /// - Parameters:
    ///   - parent: the job that depends on it; if that has ended, nothing happens.
    ///   - progress: called zero or more times before `completion`.
    ///   - completion: called exactly once, unless the subscription is given up first.
    /// - Returns: a number for ``unsubscribe(_:)`` and ``setPriority(_:of:)``; nil if the parent has ended.
    @discardableResult
    func subscribe(
        to work: any Work,
        priority: LoadPriority = .normal,
        parent: UInt64? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) -> UInt64? {
        let (id, steps) = state.withLock { state -> (UInt64?, [Step]) in
            if progress != nil { state.tellGraphOfUnheard() }
            guard let joined = state.graph.subscribe(to: work.key, priority: priority, parent: parent) else {
                return (nil, [])
            }
            state.add(Subscriber(progress: progress, completion: completion), joined.subscription)
            if state.jobs[joined.node] == nil {
                let priority = state.graph.priority(of: joined.node) ?? priority
                state.jobs[joined.node] = WorkJob(work: work, id: joined.node, priority: priority, pipeline: self)
            }
            return (joined.subscription, resolve(joined.actions, &state))
        }
        perform(steps)
        return id
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

    func finish(_ node: UInt64, with result: WorkResult) {
        let steps = state.withLock { state -> [Step] in
            let actions = state.graph.finish(node, with: result)
            let steps = resolve(actions, &state)
            _ = state.removeJob(node)
            return steps
        }
        perform(steps)
    }

    private func resolve(_ actions: [WorkGraph<WorkKey, WorkResult>.Action], _ state: inout State) -> [Step] {
        actions.compactMap { action in
            switch action {
            case .start(let node): state.jobs[node].map { .start($0) }
            case .cancel(let node): state.removeJob(node).map { .cancel($0) }
            case .setPriority(let node, let priority, let version):
                state.jobs[node].map { .setPriority($0, priority, version: version) }
            case .progress(let id, let progress): state.subscribers[id]?.progress.map { .progress($0, progress) }
            case .deliver(let id, let result):
                state.removeSubscriber(id).map { .deliver($0, result) }
            case .forget(let id): state.removeSubscriber(id).map { .release($0) }
            }
        }
    }

    private func perform(_ steps: [Step]) {
        for step in steps {
            switch step {
            case .start(let job): job.start()
            case .cancel(let job): job.cancel()
            case .setPriority(let job, let priority, let version): job.setPriority(priority, version: version)
            case .progress(let body, let progress): body(progress)
            case .deliver(let subscriber, let result): subscriber.completion(result)
            case .release: break
            }
        }
    }
}
