/// A piece of shared work: the part of a plan that identifies it, and its implementation.
protocol Work: Sendable {
    var key: WorkKey { get }
    /// Starts the work; must not block. The work ends by calling `job.finish`, on any thread.
    func start(_ job: WorkJob)
}

extension WorkKey {
    /// The work identified by the key.
    fileprivate var work: any Work {
        switch self {
        case .diskRead(let plan): DiskReadWork(plan: plan)
        case .entryImage(let plan): EntryImageWork(plan: plan)
        case .fetch(let plan): FetchWork(plan: plan)
        case .revalidation(let plan): RevalidationWork(plan: plan) ?? OriginalWork(plan: plan)
        case .original(let plan): OriginalWork(plan: plan)
        case .store(let plan): StoreWork(plan: plan)
        case .decode(let plan): DecodeWork(plan: plan)
        case .transform(let plan): TransformWork(plan: plan)
        case .result(let plan): ResultWork(plan: LoadPlan(result: plan))
        case .encoded(let plan): EncodedWork(plan: plan)
        }
    }
}

/// A running operation of a loader or a cache, which may have a priority.
private struct HeldOperation: RunningWork {
    let operation: any WebImageOperation

    func cancel() { operation.cancel() }
    func setPriority(_ priority: LoadPriority) { (operation as? any ImageLoaderOperation)?.setPriority(priority) }
}

extension WorkGraph.Subscription: RunningWork where Node == WorkJob {
    func cancel() { node.pipeline.unsubscribe(self) }
    func setPriority(_ priority: LoadPriority) { node.pipeline.setPriority(priority, of: self) }
}

/// A running piece of work.
///
/// It is created under the pipeline's lock and started outside. A cancellation or a change of priority can therefore come before
/// the start, and is kept for it.
final class WorkJob: WorkGraphNode, @unchecked Sendable {
    // Sendable because the pipeline's lock guards `links`.

    private struct State {
        var isCancelled = false
        var priority: LoadPriority
        var version: UInt32 = 0
        var handle: (any RunningWork)?
        var download: DownloadRecord?
        var skipsGate = false
        var shared: SharedLoad?
    }

    typealias Receiver = Pipeline.Subscriber
    typealias Output = WorkResult
    typealias Note = WorkNote
    typealias Value = WorkValue

    static func takes(_ value: WorkValue, _ receiver: Receiver) -> Bool { receiver.takes(value.kind) }

    /// Keeps downloaded bytes available while they are decoded: they are not on disk until they are verified to be an image, and another
    /// load that wants another size meanwhile would download them again. Not for a refresh, which wants newer bytes.
    static func keeps(_ output: WorkResult, of key: WorkKey) -> Bool {
        guard case .original(let plan) = key, case .success(.data(let original)) = output else { return false }
        return original.source == .none && plan.value.revalidation == nil && plan.value.given == nil
    }

    /// The cache finds downloaded bytes once their write is started; bytes that are not stored are for those who waited for them.
    static func isUsedUp(_ output: WorkResult, by result: WorkResult) -> Bool {
        guard case .success(.data(let original)) = output, case .success = result else { return true }
        return original.store?.isStarted ?? true
    }

    static func summary(of output: WorkResult, after note: WorkNote) -> WorkNote? {
        guard case .success(.data(let original)) = output else { return nil }
        return WorkNote(
            .downloaded(byteCount: original.entry.data.count, original.loaded?.metrics),
            at: note.time
        )
    }

    let key: WorkKey
    let pipeline: Pipeline
    var links = WorkLinks<WorkJob>()
    private let state: Lock<State>

    init(_ key: WorkKey, priority: LoadPriority, pipeline: Pipeline) {
        self.key = key
        self.pipeline = pipeline
        state = Lock(State(priority: priority))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var priority: LoadPriority { state.withLock { $0.priority } }
    /// The record of the library's own downloader about this download, for callers that query it; also after the end.
    var download: DownloadRecord? { state.withLock { $0.download } }

    func start() {
        if !isCancelled { key.work.start(self) }
    }

    func cancel() {
        let (handle, shared) = state.withLock { state -> ((any RunningWork)?, SharedLoad?) in
            state.isCancelled = true
            defer { (state.handle, state.shared) = (nil, nil) }
            return (state.handle, state.shared)
        }
        withExtendedLifetime(shared) { handle?.cancel() }
    }

    /// Applies a priority unless one with a later `version` came first.
    func setPriority(_ priority: LoadPriority, version: UInt32) {
        let isNews = state.withLock { state -> Bool in
            guard version > state.version else { return false }
            state.version = version
            state.priority = priority
            return true
        }
        if isNews { applyPriority() }
    }

    /// Holds the running operation, for cancellation and priority; cancels it at once if the job was cancelled meanwhile.
    ///
    /// - Parameter isOvertaken: True if a later operation may have been held first, which then stays.
    func hold(_ handle: any RunningWork, isOvertaken: Bool = false) {
        let (isCancelled, hasChanged, former) = state.withLock { state -> (Bool, Bool, (any RunningWork)?) in
            guard !state.isCancelled else { return (true, false, nil) }
            if isOvertaken, state.handle != nil { return (false, false, nil) }
            defer { state.handle = handle }
            return (false, state.version > 0, state.handle)
        }
        // Handles own operations of loaders and caches, whose deinit may call back here: never release one under the lock.
        withExtendedLifetime(former) {}
        // Operations start with the priority that the job has.
        if isCancelled { handle.cancel() } else if hasChanged { applyPriority() }
    }

    /// True if it ignores back-pressure from decoding.
    var skipsGate: Bool { state.withLock { $0.skipsGate } }

    /// Ignores back-pressure from decoding from now on, and admits the job if it is waiting.
    func skipGate() {
        let handle = state.withLock { state in
            state.skipsGate = true
            return state.handle
        }
        (handle as? BackPressureLimiter.Ticket)?.enter()
    }

    /// Holds the running operation of a loader or a cache.
    func hold(_ operation: any WebImageOperation) { hold(HeldOperation(operation: operation)) }

    /// Keeps other machines waiting until the job has ended.
    func hold(_ shared: SharedLoad?) {
        guard let shared else { return }
        let former = state.withLock { state -> SharedLoad? in
            guard !state.isCancelled else { return nil }
            defer { state.shared = shared }
            return state.shared
        }
        withExtendedLifetime(former) {}
    }

    /// Keeps the record of a download, for ``download``.
    func hold(_ download: DownloadRecord) { state.withLock { $0.download = download } }

    /// Repeats until the handle has the latest priority: two threads may get here in either order.
    private func applyPriority() {
        while true {
            let (handle, priority) = state.withLock { ($0.handle, $0.priority) }
            guard let handle else { return }
            handle.setPriority(priority)
            if state.withLock({ $0.priority }) == priority { return }
        }
    }

    /// Subscribes this job to other work. A cancelled job is not called back, even while the result is being delivered to several
    /// subscribers: unneeded work is neither continued nor stored.
    ///
    /// - Parameter values: Receives values of one kind from the other work; others go to the subscribers of this job.
    func require(
        _ work: any Work,
        values: WorkValue.Receiver? = nil,
        then body: @escaping @Sendable (WorkResult) -> Void
    ) {
        pipeline.subscribe(to: work, parent: self, values: values, completion: body)
    }

    /// Sends a value to the subscribers of this job.
    func send(_ value: WorkValue) { if !isCancelled { pipeline.send(value, from: self) } }

    func report(_ progress: LoadProgress) { pipeline.report(progress, of: self) }

    func finish(_ result: WorkResult) {
        // Releasing the held operation breaks the reference cycle between a job and its operation.
        let (former, shared) = state.withLock { state -> ((any RunningWork)?, SharedLoad?) in
            defer { (state.handle, state.shared) = (nil, nil) }
            return (state.handle, state.shared)
        }
        withExtendedLifetime(former) {}
        shared?.end()
        pipeline.finish(self, with: result)
    }

    /// Performs a part of the work on a decode thread, once its memory cost is reserved.
    ///
    /// - Parameters:
    ///   - image: See ``WorkQueue/submit(cost:of:after:priority:_:)``.
    ///   - queue: Replaces the pipeline's queue.
    func perform(
        _ cost: MemoryCost,
        after image: Image? = nil,
        on queue: WorkQueue? = nil,
        _ body: @escaping WorkQueue.AdmittedBody
    ) {
        let queue = queue ?? pipeline.decodeQueue
        hold(queue.submit(cost: cost, of: pipeline.budget, after: image, priority: priority, body))
    }

    /// Creates an image from another on a decode thread, once its memory is reserved; the result ends the job.
    ///
    /// - Parameters:
    ///   - transformer: The transformer, for its memory need.
    ///   - next: The next transformer for the result.
    ///   - end: Processes the result before the job ends.
    func transform(
        _ input: Image,
        by transformer: (any ImageTransformer)?,
        next: (any ImageTransformer)? = nil,
        _ body: @escaping @Sendable () throws(WebImageError) -> PipelineImage,
        then end: @escaping @Sendable (PipelineImage) -> PipelineImage = { $0 }
    ) {
        // The closure owns the input, and is released before the end.
        let steps = Lock<(@Sendable () throws(WebImageError) -> PipelineImage)?>(body)
        perform(.transforming(input, by: transformer), after: input) { [self] given in
            guard let body = steps.withLock({ $0.take() }), !isCancelled else { return }
            do throws(WebImageError) {
                _ = try given.get()
                let image = try body()
                pipeline.budget.made(image.image, for: next)
                finish(.success(.image(end(image))))
            } catch {
                finish(.failure(error))
            }
        }
    }
}
