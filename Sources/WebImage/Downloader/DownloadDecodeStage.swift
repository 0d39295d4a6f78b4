public import FoundationEssentials

/// A picture that was downloaded and decoded.
public struct DownloadedImage: Sendable {
    /// The picture. Callers that asked for the same of one download get the same one.
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
        var share: DecodeShare?
        var seat: DecodeShare.Seat?
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

    /// Before the end of the download: with whom the decoding is to be shared.
    func use(_ share: DecodeShare) { state.withLock { if $0.completion != nil { $0.share = share } } }

    func downloadDidFinish(_ result: Result<LoadedImageData, WebImageError>) {
        switch result {
        case .failure(let error): finish(.failure(error))
        case .success(let loaded): decode(loaded)
        }
    }

    private func decode(_ loaded: LoadedImageData) {
        let wanted = state.withLock { state -> (share: DecodeShare, priority: LoadPriority)? in
            guard state.completion != nil else { return nil }
            return (state.share ?? DecodeShare(), state.priority)
        }
        guard let wanted else { return }
        let seat = wanted.share.join(
            loaded.data,
            coder: coder,
            options: options,
            priority: wanted.priority
        ) { [self] result in
            finish(
                result.map {
                    DownloadedImage(
                        image: $0,
                        data: loaded.data,
                        response: loaded.response,
                        metrics: loaded.metrics
                    )
                }
                .mapError { $0.with(url: url) }
            )
        }
        guard let seat else { return }
        let (isWanted, priority) = state.withLock { state -> (Bool, LoadPriority) in
            guard state.completion != nil else { return (false, state.priority) }
            state.seat = seat
            return (true, state.priority)
        }
        if !isWanted {
            seat.leave()
        } else if priority != wanted.priority {
            seat.setPriority(priority)
        }
    }

    func cancel() { finish(.failure(.cancelled(url))) }

    func setPriority(_ priority: LoadPriority) {
        let seat = state.withLock { state -> DecodeShare.Seat? in
            state.priority = priority
            return state.seat
        }
        seat?.setPriority(priority)
    }

    private func finish(_ result: Result<DownloadedImage, WebImageError>) {
        let former = state.withLock { state -> State? in
            guard state.completion != nil else { return nil }
            if case .failure(let error) = result { state.isCancelled = error.code == .cancelled }
            defer {
                state.completion = nil
                state.share = nil
                state.seat = nil
            }
            return state
        }
        former?.seat?.leave()
        former?.completion?(result)
    }
}
