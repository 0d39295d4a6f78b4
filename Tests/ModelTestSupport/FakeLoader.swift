package import FoundationEssentials
package import WebImageModel

/// A loader under the test's control: loads wait until the test answers them, unless they are answered at once.
package final class FakeLoader: ImageLoading {
    package final class Load: ImageLoaderOperation {
        package let request: ImageLoadRequest
        private let progress: @Sendable (LoadProgress) -> Void
        private let state: Lock<State>

        private struct State {
            var completion: (@Sendable (Result<LoadedImageData, WebImageError>) -> Void)?
            var isCancelled = false
            var priority: LoadPriority
        }

        package init(
            _ request: ImageLoadRequest,
            _ progress: @escaping @Sendable (LoadProgress) -> Void,
            _ completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
        ) {
            self.request = request
            self.progress = progress
            state = Lock(State(completion: completion, priority: request.priority))
        }

        package var isCancelled: Bool { state.withLock { $0.isCancelled } }
        package var priority: LoadPriority { state.withLock { $0.priority } }

        package func cancel() {
            state.withLock { $0.isCancelled = true }
            answer(.failure(.cancelled(request.url)))
        }

        package func setPriority(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }

        /// Returns whether it gets this priority within seconds: the thread that starts a load forwards later changes.
        package func becomes(_ priority: LoadPriority) async -> Bool {
            await ModelTestSupport.becomes { self.priority == priority }
        }

        /// Returns whether it is cancelled within seconds.
        package func becomesCancelled() async -> Bool { await ModelTestSupport.becomes { isCancelled } }

        package func report(_ received: Int64, of expected: Int64) {
            progress(LoadProgress(receivedByteCount: received, expectedByteCount: expected))
        }

        package func answer(_ result: Result<LoadedImageData, WebImageError>) {
            let completion = state.withLock { state in
                defer { state.completion = nil }
                return state.completion
            }
            completion?(result)
        }

        package func succeed(_ text: String = "picture") { answer(.success(LoadedImageData(data: Data(text.utf8)))) }
    }

    private let list = Lock<[Load]>([])
    private let started = EventCounter()
    /// Answers loads as they start; nil leaves them to the test.
    private let respond: (@Sendable (URL) -> Result<String, WebImageError>)?

    package init(respond: (@Sendable (URL) -> Result<String, WebImageError>)? = nil) { self.respond = respond }

    package var loads: [Load] { list.withLock { $0 } }

    /// Waits until `count` loads have been started in all.
    package func waitForLoads(_ count: Int) async -> [Load] {
        await started.wait(for: count)
        return loads
    }

    package func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    package func load(
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

    package func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { error.code == .badImageData }
}
