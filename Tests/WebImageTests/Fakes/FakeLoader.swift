import FoundationEssentials
import WebImage

/// A loader under the test's control: loads wait until the test answers them, unless they are answered at once.
final class FakeLoader: ImageLoading {
    final class Load: ImageLoaderOperation {
        let request: ImageLoadRequest
        private let progress: @Sendable (LoadProgress) -> Void
        private let state: Lock<State>

        private struct State {
            var completion: (@Sendable (Result<LoadedImageData, WebImageError>) -> Void)?
            var isCancelled = false
            var priority: LoadPriority
        }

        init(
            _ request: ImageLoadRequest,
            _ progress: @escaping @Sendable (LoadProgress) -> Void,
            _ completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
        ) {
            self.request = request
            self.progress = progress
            state = Lock(State(completion: completion, priority: request.priority))
        }

        var isCancelled: Bool { state.withLock { $0.isCancelled } }
        var priority: LoadPriority { state.withLock { $0.priority } }

        func cancel() {
            state.withLock { $0.isCancelled = true }
            answer(.failure(.cancelled(request.url)))
        }

        func setPriority(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }

        /// Whether it gets this priority within seconds: the thread that begins a load hands on later what it heard meanwhile.
        func becomes(_ priority: LoadPriority) async -> Bool { await becomes { $0.priority == priority } }

        /// Whether it is cancelled within seconds.
        func becomesCancelled() async -> Bool { await becomes { $0.isCancelled } }

        private func becomes(_ condition: (Load) -> Bool) async -> Bool {
            let deadline = ContinuousClock.now + .seconds(20)
            while !condition(self) {
                if ContinuousClock.now > deadline { return false }
                await Task.yield()
            }
            return true
        }

        func report(_ received: Int64, of expected: Int64) {
            progress(LoadProgress(receivedByteCount: received, expectedByteCount: expected))
        }

        func answer(_ result: Result<LoadedImageData, WebImageError>) {
            let completion = state.withLock { state in
                defer { state.completion = nil }
                return state.completion
            }
            completion?(result)
        }

        func succeed(_ text: String = "picture") { answer(.success(LoadedImageData(data: Data(text.utf8)))) }
    }

    private let list = Lock<[Load]>([])
    private let started = EventCounter()
    /// Answers loads as they start; nil leaves them to the test.
    private let respond: (@Sendable (URL) -> Result<String, WebImageError>)?

    init(respond: (@Sendable (URL) -> Result<String, WebImageError>)? = nil) { self.respond = respond }

    var loads: [Load] { list.withLock { $0 } }

    /// Waits until `count` loads have been started in all.
    func waitForLoads(_ count: Int) async -> [Load] {
        await started.wait(for: count)
        return loads
    }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let load = Load(request, progress, completion)
        list.withLock { $0.append(load) }
        started.signal()
        if let respond {
            load.answer(respond(request.url).map { LoadedImageData(data: Data($0.utf8)) })
        }
        return load
    }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { error.code == .badImageData }
}
