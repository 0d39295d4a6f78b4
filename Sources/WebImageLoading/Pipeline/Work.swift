/// A piece of shared work: a part of a plan, which names it, and how that is performed.
protocol Work: Sendable {
    var key: WorkKey { get }
    /// Begins; must not block. The work ends by calling `job.finish`, on any thread.
    func start(_ job: WorkJob)
}

extension WorkKey {
    /// The work that the key names.
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
        }
    }
}

/// An operation of a loader or a cache, which may have a priority.
private struct HeldOperation: RunningWork {
    let operation: any WebImageOperation

    func cancel() { operation.cancel() }
    func setPriority(_ priority: LoadPriority) { (operation as? any ImageLoaderOperation)?.setPriority(priority) }
}

extension WorkGraph.Subscription: RunningWork where Node == WorkJob {
    func cancel() { node.pipeline.unsubscribe(self) }
    func setPriority(_ priority: LoadPriority) { node.pipeline.setPriority(priority, of: self) }
}

/// A piece of work that runs.
///
/// It is made under the pipeline's lock and started outside; a cancel or a change of priority can therefore come before
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
    }

    typealias Receiver = Pipeline.Subscriber
    typealias Output = WorkResult
    typealias Note = WorkNote
    typealias Value = WorkValue

    static func takes(_ value: WorkValue, _ receiver: Receiver) -> Bool { receiver.takes(value.kind) }

    /// Downloaded bytes are found as long as they are decoded: the disk does not have them before they have proved to be a picture. A load
    /// that comes meanwhile and wants another size would download them again. A refresh wants newer ones.
    static func keeps(_ output: WorkResult, of key: WorkKey) -> Bool {
        guard case .original(let plan) = key, case .success(.data(let original)) = output else { return false }
        return original.source == .none && plan.value.revalidation == nil && plan.value.given == nil
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
    /// What the library's own downloader knows of the download, for callers that ask; also after the end.
    var download: DownloadRecord? { state.withLock { $0.download } }

    func start() {
        if !isCancelled { key.work.start(self) }
    }

    func cancel() {
        let handle = state.withLock { state -> (any RunningWork)? in
            state.isCancelled = true
            defer { state.handle = nil }
            return state.handle
        }
        handle?.cancel()
    }

    /// Takes over a priority unless a later one (by `version`) has come before it.
    func setPriority(_ priority: LoadPriority, version: UInt32) {
        let isNews = state.withLock { state -> Bool in
            guard version > state.version else { return false }
            state.version = version
            state.priority = priority
            return true
        }
        if isNews { applyPriority() }
    }

    /// Keeps what is under way now, for cancel and priority; gives it up at once if the job was cancelled meanwhile.
    ///
    /// - Parameter isOvertaken: whether something later may have come before it, which is then what stays.
    func hold(_ handle: any RunningWork, isOvertaken: Bool = false) {
        let (isCancelled, former) = state.withLock { state -> (Bool, (any RunningWork)?) in
            guard !state.isCancelled else { return (true, nil) }
            if isOvertaken, state.handle != nil { return (false, nil) }
            defer { state.handle = handle }
            return (false, state.handle)
        }
        // Handles own operations of loaders and caches, whose end may come back here: never let go of one under the lock.
        withExtendedLifetime(former) {}
        if isCancelled { handle.cancel() } else { applyPriority() }
    }

    /// Whether it does not wait for what is to be decoded.
    var skipsGate: Bool { state.withLock { $0.skipsGate } }

    /// Does not wait, or no longer, for what is to be decoded.
    func skipGate() {
        let handle = state.withLock { state in
            state.skipsGate = true
            return state.handle
        }
        (handle as? LoadGate.Ticket)?.enter()
    }

    /// Holds what a loader or a cache has under way.
    func hold(_ operation: any WebImageOperation) { hold(HeldOperation(operation: operation)) }

    /// Keeps a download, for ``download``.
    func hold(_ download: DownloadRecord) { state.withLock { $0.download = download } }

    /// Calls the handle until what it was told last is what holds: two threads may get here in either order.
    private func applyPriority() {
        while true {
            let (handle, priority) = state.withLock { ($0.handle, $0.priority) }
            guard let handle else { return }
            handle.setPriority(priority)
            if state.withLock({ $0.priority }) == priority { return }
        }
    }

    /// Waits for other work, in the name of this one. A job that is cancelled hears nothing, also when the result is being
    /// handed out to several at that moment: what nobody waits for is not gone on with, nor stored.
    ///
    /// - Parameter values: gets values of one kind that the other work sends; others go to those who wait for this one.
    func require(
        _ work: any Work,
        values: WorkValue.Receiver? = nil,
        then body: @escaping @Sendable (WorkResult) -> Void
    ) {
        pipeline.subscribe(to: work, parent: self, values: values, completion: body)
    }

    /// Sends a value to those who wait for this work.
    func send(_ value: WorkValue) { if !isCancelled { pipeline.send(value, from: self) } }

    func report(_ progress: LoadProgress) { pipeline.report(progress, of: self) }

    func finish(_ result: WorkResult) {
        // What was held is over; letting go of it here breaks the cycle between a job and its operation.
        let former = state.withLock { state -> (any RunningWork)? in
            defer { state.handle = nil }
            return state.handle
        }
        withExtendedLifetime(former) {}
        pipeline.finish(self, with: result)
    }

    /// Does a part of the work on a decode thread, once there is memory for what it costs.
    ///
    /// - Parameters:
    ///   - image: see ``WorkQueue/submit(cost:of:after:priority:_:)``.
    ///   - queue: in place of the pipeline's.
    func perform(
        _ cost: MemoryCost,
        after image: Image? = nil,
        on queue: WorkQueue? = nil,
        _ body: @escaping BudgetedJob.Body
    ) {
        let queue = queue ?? pipeline.decodeQueue
        hold(queue.submit(cost: cost, of: pipeline.budget, after: image, priority: priority, body))
    }

    /// Makes an image of another on a decode thread, when there is room for it; its outcome ends the job.
    ///
    /// - Parameters:
    ///   - transformer: what makes the other, for what that takes.
    ///   - next: what the result is given to then.
    ///   - end: what becomes of the result before the job ends.
    func transform(
        _ input: Image,
        by transformer: (any ImageTransformer)?,
        next: (any ImageTransformer)? = nil,
        _ body: @escaping @Sendable () throws(WebImageError) -> PipelineImage,
        then end: @escaping @Sendable (PipelineImage) -> PipelineImage = { $0 }
    ) {
        // It owns what goes in, and is let go of before the end.
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
