public import FoundationEssentials

/// A picture that was downloaded and decoded.
public struct DownloadedImage: Sendable {
    /// The picture.
    public var image: Image
    /// The bytes it was decoded from.
    public var data: Data
    /// The HTTP response.
    public var response: HTTPResponse?
    /// How long the download took.
    public var metrics: DownloadMetrics?
}

/// What follows a download when the caller wants an image: decoding on the decode threads, one end, whoever comes first.
final class DownloadDecodeStage: Sendable {
    typealias Completion = @Sendable (Result<DownloadedImage, WebImageError>) -> Void

    private struct State {
        var completion: Completion?
        var item: WorkItem?
        var priority: LoadPriority
        var isCancelled = false
    }

    private let url: URL
    private let coder: any ImageCoder
    private let options: ImageDecodeOptions
    private let state: Lock<State>

    init(
        url: URL,
        coder: any ImageCoder,
        options: ImageDecodeOptions,
        priority: LoadPriority,
        completion: @escaping Completion
    ) {
        self.url = url
        self.coder = coder
        self.options = options
        state = Lock(State(completion: completion, priority: priority))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func downloadDidFinish(_ result: Result<LoadedImageData, WebImageError>) {
        switch result {
        case .failure(let error):
            finish(.failure(error))
        case .success(let loaded):
            state.withLock { state in
                guard state.completion != nil else { return }
                state.item = CodingQueue.shared.submit(priority: state.priority) { [self] in decode(loaded) }
            }
        }
    }

    private func decode(_ loaded: LoadedImageData) {
        guard state.withLock({ $0.completion != nil }) else { return }
        do throws(WebImageError) {
            let image = try coder.decode(loaded.data, options: options)
            finish(
                .success(
                    DownloadedImage(
                        image: image,
                        data: loaded.data,
                        response: loaded.response,
                        metrics: loaded.metrics
                    )
                )
            )
        } catch {
            finish(.failure(error.with(url: url)))
        }
    }

    func cancel() { finish(.failure(.cancelled(url))) }

    func setPriority(_ priority: LoadPriority) {
        let item = state.withLock { state -> WorkItem? in
            state.priority = priority
            return state.item
        }
        item?.setPriority(priority)
    }

    private func finish(_ result: Result<DownloadedImage, WebImageError>) {
        let (completion, item) = state.withLock { state -> (Completion?, WorkItem?) in
            guard state.completion != nil else { return (nil, nil) }
            if case .failure(let error) = result { state.isCancelled = error.code == .cancelled }
            defer {
                state.completion = nil
                state.item = nil
            }
            return (state.completion, state.item)
        }
        item?.cancel()
        completion?(result)
    }
}
