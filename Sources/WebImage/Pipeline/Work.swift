/// A piece of shared work: names itself by a key and knows how to run.
protocol Work: Sendable {
    var key: WorkKey { get }
    /// Begins; must not block. The work ends by calling `job.finish`, on any thread.
    func start(_ job: WorkJob)
}

/// A piece of work that runs.
///
/// It is made under the pipeline's lock and started outside; a cancel or a change of priority can therefore come before
/// the start, and is kept for it.
final class WorkJob: Sendable {
    /// Something the job has under way that can be given up and made more or less urgent.
    struct Handle: Sendable {
        var cancel: @Sendable () -> Void
        var setPriority: @Sendable (LoadPriority) -> Void
    }

    private struct State {
        var isCancelled = false
        var priority: LoadPriority
        var version: UInt64 = 0
        var handle: Handle?
    }

    let work: any Work
    let pipeline: Pipeline
    let id: UInt64
    private let state: Lock<State>

    init(work: any Work, id: UInt64, priority: LoadPriority, pipeline: Pipeline) {
        self.work = work
        self.id = id
        self.pipeline = pipeline
        state = Lock(State(priority: priority))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var priority: LoadPriority { state.withLock { $0.priority } }

    func start() {
        if !isCancelled { work.start(self) }
    }

    func cancel() {
        let handle = state.withLock { state -> Handle? in
            state.isCancelled = true
            defer { state.handle = nil }
            return state.handle
        }
        handle?.cancel()
    }

    /// Takes over a priority unless a later one (by `version`) has come before it.
    func setPriority(_ priority: LoadPriority, version: UInt64) {
        let isNews = state.withLock { state -> Bool in
            guard version > state.version else { return false }
            state.version = version
            state.priority = priority
            return true
        }
        if isNews { applyPriority() }
    }

    /// Keeps what is under way now, for cancel and priority; gives it up at once if the job was cancelled meanwhile.
    func hold(_ handle: Handle) {
        let (isCancelled, former) = state.withLock { state -> (Bool, Handle?) in
            guard !state.isCancelled else { return (true, nil) }
            defer { state.handle = handle }
            return (false, state.handle)
        }
        // Handles own operations of loaders and caches, whose end may come back here: never let go of one under the lock.
        withExtendedLifetime(former) {}
        if isCancelled { handle.cancel() } else { applyPriority() }
    }

    /// Like ``hold(_:)``, but gives way to what is already held: something later has overtaken it.
    func holdUnlessHolding(_ handle: Handle) {
        let isCancelled = state.withLock { state -> Bool in
            if !state.isCancelled, state.handle == nil { state.handle = handle }
            return state.isCancelled
        }
        if isCancelled { handle.cancel() } else { applyPriority() }
    }

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
    /// - Parameter preview: gets the previews that the other work makes.
    func require(
        _ work: any Work,
        preview: (@Sendable (Image) -> Void)? = nil,
        then body: @escaping @Sendable (WorkResult) -> Void
    ) {
        pipeline.subscribe(to: work, parent: id, preview: preview) { [self] result in
            if !isCancelled { body(result) }
        }
    }

    /// Gives a preview to those who wait for this work.
    func preview(_ image: Image) { if !isCancelled { pipeline.preview(image, of: id) } }

    func report(_ progress: LoadProgress) { pipeline.report(progress, of: id) }

    func finish(_ result: WorkResult) {
        // What was held is over; letting go of it here breaks the cycle between a job and its operation.
        let former = state.withLock { state -> Handle? in
            defer { state.handle = nil }
            return state.handle
        }
        withExtendedLifetime(former) {}
        pipeline.finish(id, with: result)
    }

    /// Makes an image of another on a decode thread, when there is room for it; its outcome ends the job.
    func transform(
        _ input: Image,
        _ body: @escaping @Sendable () throws(WebImageError) -> PipelineImage
    ) {
        // What a transformer makes is not known before. Most make as much as there was, by way of a copy.
        let demand = MemoryDemand.bytes(2 * input.pixelByteCount)
        let item = pipeline.decodeQueue.submit(demand, to: pipeline.budget, priority: priority) { [self] admission in
            guard !isCancelled else { return }
            do throws(WebImageError) {
                let admission = try admission.get()
                let image = try body()
                admission.end(with: image.image, in: pipeline.budget)
                finish(.success(.image(image)))
            } catch {
                finish(.failure(error))
            }
        }
        hold(Handle(cancel: { item.cancel() }, setPriority: { item.setPriority($0) }))
    }
}
