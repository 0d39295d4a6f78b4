import FoundationEssentials
import TestSupport
import WebImage

/// A loader whose loads wait until the test lets them continue.
final class HeldLoader: ImageLoading {
    private struct State {
        var waiting: [URL: [Held]] = [:]
        var requests: [URL] = []
        var cancelled: [URL] = []
        var priorities: [URL: LoadPriority] = [:]
        var answers: [URL: Result<Data, WebImageError>] = [:]
    }

    private struct Held {
        let id: Int
        let progress: @Sendable (LoadProgress) -> Void
        let completion: @Sendable (Result<LoadedImageData, WebImageError>) -> Void
        let partialData: PartialImageData?
    }

    private let state = Monitor(State())

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }
    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let url = request.url
        let (id, answer) = state.withLock { state in
            state.requests.append(url)
            state.priorities[url] = request.priority
            let held = Held(
                id: state.requests.count,
                progress: progress,
                completion: completion,
                partialData: request.partialData
            )
            state.waiting[url, default: []].append(held)
            return (held.id, state.answers[url])
        }
        // Not within the call: loaded images are delivered later.
        if let answer { startThread { [self] in end(url, with: answer) } }
        let change: @Sendable (LoadPriority) -> Void = { [self] priority in
            state.withLock { $0.priorities[url] = priority }
        }
        return Operation(change) { [self] in
            let held = state.withLock { state -> Held? in
                guard let index = state.waiting[url]?.firstIndex(where: { $0.id == id }) else { return nil }
                state.cancelled.append(url)
                return state.waiting[url]?.remove(at: index)
            }
            held?.completion(.failure(WebImageError(.cancelled, "cancelled", url: url)))
        }
    }

    /// Requested URLs, in order.
    var requests: [URL] { state.withLock { $0.requests } }
    /// URLs whose load was cancelled.
    var cancelled: [URL] { state.withLock { $0.cancelled } }

    /// The current or last priority of a URL's load.
    func priority(of url: URL) -> LoadPriority? { state.withLock { $0.priorities[url] } }
    /// URLs whose load has not ended.
    var waiting: Set<URL> {
        state.withLock { state in Set(state.waiting.keys.filter { state.waiting[$0]?.isEmpty == false }) }
    }

    /// Waits until a URL is requested.
    func request(of url: URL) async -> Bool {
        await state.value { $0.waiting[url]?.isEmpty == false ? true : nil } ?? false
    }

    /// Ends the waiting loads of a URL, on this thread.
    func end(_ url: URL, with result: Result<Data, WebImageError>) {
        let held = state.withLock { $0.waiting.removeValue(forKey: url) ?? [] }
        for load in held { load.completion(result.map { LoadedImageData(data: $0) }) }
    }

    /// Ends the waiting and later loads of a URL, until another response is set or they are held again: several callers
    /// may request it, and not all of them have by now.
    func answer(_ url: URL, with result: Result<Data, WebImageError>) {
        state.withLock { $0.answers[url] = result }
        end(url, with: result)
    }

    /// Later loads of a URL wait again.
    func hold(_ url: URL) { state.withLock { $0.answers[url] = nil } }

    /// Provides a URL's partial data, for previews.
    func leave(_ data: Data, _ url: URL) {
        let held = state.withLock { $0.waiting[url] ?? [] }
        for load in held { load.partialData?.update(data, expectedByteCount: nil) }
    }

    /// Reports the progress of a URL.
    func report(_ received: Int64, of expected: Int64?, _ url: URL) {
        let held = state.withLock { $0.waiting[url] ?? [] }
        for load in held { load.progress(LoadProgress(receivedByteCount: received, expectedByteCount: expected)) }
    }

    private final class Operation: ImageLoaderOperation {
        private let body: @Sendable () -> Void
        private let wasCancelled = Lock(false)
        private let change: @Sendable (LoadPriority) -> Void
        init(_ change: @escaping @Sendable (LoadPriority) -> Void, _ body: @escaping @Sendable () -> Void) {
            self.change = change
            self.body = body
        }
        var isCancelled: Bool { wasCancelled.withLock { $0 } }
        func cancel() {
            wasCancelled.withLock { $0 = true }
            body()
        }
        func setPriority(_ priority: LoadPriority) { change(priority) }
    }
}
