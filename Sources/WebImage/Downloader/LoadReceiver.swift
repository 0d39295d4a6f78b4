/// Calls the closures of one load: progress one reading at a time and in order, one end, and nothing after it.
final class LoadReceiver: Sendable {
    typealias Completion = @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    private let relay: ProgressRelay
    private let state: Lock<(completion: Completion?, isCancelled: Bool)>

    init(progress: @escaping @Sendable (LoadProgress) -> Void, completion: @escaping Completion) {
        relay = ProgressRelay(queue: .inline, progress)
        state = Lock((completion, false))
    }

    /// Whether the end was a cancel.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

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
}
