import FoundationEssentials
import TestSupport
import WebImage

/// The model's server on its own threads: responds as fast as it can, in any order.
final class StressServer: ImageLoading {
    struct Shelf {
        var version = 0
        var lastVersion = 0
        var trouble = ModelOperation.Trouble.none
    }

    private let shelves = Lock([Shelf](repeating: Shelf(), count: ModelKeys.urlCount))
    private let queue = WorkQueue(name: "model-server", width: 3)
    private let underWay = Lock(0)

    /// A new version number.
    func newVersion(_ url: Int) -> Int {
        shelves.withLock { shelves in
            shelves[url].lastVersion += 1
            return shelves[url].lastVersion
        }
    }

    func lastVersion(_ url: Int) -> Int { shelves.withLock { $0[url].lastVersion } }
    func publish(_ url: Int) {
        let version = newVersion(url)
        shelves.withLock { $0[url].version = version }
    }
    func setTrouble(_ url: Int, _ trouble: ModelOperation.Trouble) { shelves.withLock { $0[url].trouble = trouble } }

    /// Transfers whose end has not been reported.
    var transferCount: Int { underWay.withLock { $0 } }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        error.code == .badImageData || error.code == .invalidDownloadStatusCode
    }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        underWay.withLock { $0 += 1 }
        let transfer = Transfer(request.url) { [underWay] result in
            completion(result)
            underWay.withLock { $0 -= 1 }
        }
        let item = queue.submit(priority: request.priority) { [self] in
            for part in 1...3 where transfer.isRunning {
                progress(LoadProgress(receivedByteCount: Int64(part), expectedByteCount: 4))
            }
            transfer.end(answer(request))
        }
        transfer.setItem(item)
        return transfer
    }

    private func answer(_ request: ImageLoadRequest) -> Result<LoadedImageData, WebImageError> {
        let url = ModelKeys.number(of: request.url) ?? 0
        let shelf = shelves.withLock { $0[url] }
        var headers = HTTPHeaders()
        headers["ETag"] = "v\(shelf.version)"
        let response = HTTPResponse(url: request.url, statusCode: 200, headers: headers)
        switch shelf.trouble {
        case .badBytes: return .success(LoadedImageData(data: ModelImage.badData(url), response: response))
        case .passing: return .failure(WebImageError(.networkConnectionLost, "lost"))
        case .gone: return .failure(WebImageError(.invalidDownloadStatusCode, "gone", statusCode: 404))
        case .none: break
        }
        guard request.additionalHeaders["If-None-Match"] != headers["ETag"] else {
            return .failure(WebImageError(.cacheNotModified, "nothing newer", statusCode: 304))
        }
        let image = ModelImage(url: url, version: shelf.version)
        return .success(LoadedImageData(data: image.data, response: response))
    }

    private final class Transfer: ImageLoaderOperation {
        private struct State {
            var completion: (@Sendable (Result<LoadedImageData, WebImageError>) -> Void)?
            var item: WorkItem?
            var isCancelled = false
        }

        private let url: URL
        private let state: Lock<State>

        init(_ url: URL, _ completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void) {
            self.url = url
            state = Lock(State(completion: completion))
        }

        var isRunning: Bool { state.withLock { $0.completion != nil } }
        var isCancelled: Bool { state.withLock { $0.isCancelled } }
        func setItem(_ item: WorkItem) { state.withLock { $0.item = item } }
        func setPriority(_ priority: LoadPriority) { state.withLock { $0.item }?.setPriority(priority) }

        func cancel() {
            let item = state.withLock { state in
                state.isCancelled = true
                return state.item
            }
            item?.cancel()
            end(.failure(.cancelled(url)))
        }

        func end(_ result: Result<LoadedImageData, WebImageError>) {
            let completion = state.withLock { state in
                defer { state.completion = nil }
                return state.completion
            }
            completion?(result)
        }
    }
}
