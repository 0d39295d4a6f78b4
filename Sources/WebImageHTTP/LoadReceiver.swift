package import FoundationEssentials

/// One load by a job or a task: delivers progress serially and in order, then exactly one result (that of the load or that of a
/// cancel, whichever is first), and nothing after it.
package final class LoadReceiver: ImageLoaderOperation {
    package typealias Completion = @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    /// The work that performs the load.
    enum Work: Sendable {
        case job(WorkItem)
        case task(Task<Void, Never>)
    }

    private let url: URL
    private let relay: ProgressRelay
    private let state: Lock<(completion: Completion?, isCancelled: Bool, work: Work?)>

    package init(url: URL, progress: @escaping @Sendable (LoadProgress) -> Void, completion: @escaping Completion) {
        self.url = url
        relay = ProgressRelay(queue: .inline, progress)
        state = Lock((completion, false, nil))
    }

    /// Forwards progress, unless newer progress or the end came first.
    package func post(_ progress: LoadProgress) { relay.post(progress) }

    /// Forwards the result, unless the load has ended.
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
    package func load(
        on queue: WorkQueue,
        priority: LoadPriority,
        body: @escaping @Sendable (LoadReceiver) throws(WebImageError) -> Data
    ) -> LoadReceiver {
        load(on: queue, priority: priority) { (receiver) throws(WebImageError) in
            LoadedImageData(data: try body(receiver))
        }
    }

    /// Loads with a job on a queue, which may return something else than bytes.
    package func load(
        on queue: WorkQueue,
        priority: LoadPriority,
        body: @escaping @Sendable (LoadReceiver) throws(WebImageError) -> LoadedImageData
    ) -> LoadReceiver {
        let item = queue.submit(priority: priority) { [self] in
            do throws(WebImageError) {
                finish(.success(try body(self)))
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

    // MARK: ImageLoaderOperation

    /// True if the load ended by cancellation.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        // In this order: a task that is cancelled first may still deliver an image.
        finish(.failure(.cancelled(url)))
        switch state.withLock({ $0.work }) {
        case .job(let item)?: item.cancel()
        case .task(let task)?: task.cancel()
        case nil: break
        }
    }

    /// Changes the priority of a job. A task keeps the priority that it was started with, unless a more urgent task awaits it.
    package func setPriority(_ priority: LoadPriority) {
        if case .job(let item)? = state.withLock({ $0.work }) { item.setPriority(priority) }
    }
}
