import FoundationEssentials

/// One load by a job or a task: progress one reading at a time and in order, one end, whoever comes first, and nothing after it.
final class LoadReceiver: ImageLoaderOperation {
    typealias Completion = @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    /// What loads.
    enum Work: Sendable {
        case job(WorkItem)
        case task(Task<Void, Never>)
    }

    private let url: URL
    private let relay: ProgressRelay
    private let state: Lock<(completion: Completion?, isCancelled: Bool, work: Work?)>

    init(url: URL, progress: @escaping @Sendable (LoadProgress) -> Void, completion: @escaping Completion) {
        self.url = url
        relay = ProgressRelay(queue: .inline, progress)
        state = Lock((completion, false, nil))
    }

    /// Passes progress on, unless newer progress or the end was there first.
    func post(_ progress: LoadProgress) { relay.post(progress) }

    /// Passes the end on, unless there was one.
    func finish(_ result: Result<LoadedImageData, WebImageError>) {
        let completion = state.withLock { state -> Completion? in
            guard let completion = state.completion.take() else { return nil }
            if case .failure(let error) = result { state.isCancelled = error.code == .cancelled }
            return completion
        }
        guard let completion else { return }
        Optional(relay).end(result) { completion(result) }
    }

    /// Loads with a job on a queue.
    func load(
        on queue: WorkQueue,
        priority: LoadPriority,
        body: @escaping @Sendable (LoadReceiver) throws(WebImageError) -> Data
    ) -> LoadReceiver {
        let item = queue.submit(priority: priority) { [self] in
            do throws(WebImageError) {
                finish(.success(LoadedImageData(data: try body(self))))
            } catch {
                finish(.failure(error.with(url: url)))
            }
        }
        return load(by: .job(item))
    }

    func load(by work: Work) -> LoadReceiver {
        state.withLock { $0.work = work }
        return self
    }

    // MARK: The operation

    /// Whether the end was a cancel.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        // In this order: a task that hears of it may end with a picture at once.
        finish(.failure(.cancelled(url)))
        switch state.withLock({ $0.work }) {
        case .job(let item)?: item.cancel()
        case .task(let task)?: task.cancel()
        case nil: break
        }
    }

    /// Tasks keep the priority that they were started with, unless something of more urgency waits for them.
    func setPriority(_ priority: LoadPriority) {
        if case .job(let item)? = state.withLock({ $0.work }) { item.setPriority(priority) }
    }
}
