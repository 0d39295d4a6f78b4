import FoundationEssentials

/// One caller of a download: receives its progress and its end.
///
/// Calls to the caller's closures come one at a time, in order, the completion exactly once and nothing after it, without a
/// lock being held: whoever finds nobody delivering delivers, including what others leave meanwhile. A slow receiver of
/// progress gets the latest reading, not every one; of other events it gets all.
final class DownloadSubscriber: Sendable {
    typealias Completion = @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    private struct State {
        var onProgress: (@Sendable (LoadProgress) -> Void)?
        var completion: Completion?
        var progress: LoadProgress?
        var events: [WebImageLoadEvent.Kind] = []
        var latest: Int64 = -1
        var result: Result<LoadedImageData, WebImageError>?
        var isDelivering = false
        var isCancelled = false
        var request: DownloadRequest?
        var response: HTTPResponse?
        var metrics: DownloadMetrics?
    }

    private enum Delivery {
        case event(WebImageLoadEvent.Kind)
        case progress(LoadProgress, @Sendable (LoadProgress) -> Void)
        case end(Result<LoadedImageData, WebImageError>, Completion)
        case nothing
    }

    let url: URL
    /// Whether anybody listens to the progress.
    let wantsProgress: Bool
    /// What decodes for this caller; nil for one that wants bytes.
    let stage: DownloadDecodeStage?
    /// Where events are told.
    let trace: LoadTrace?
    /// Where what has come so far is left, for previews.
    let partialData: PartialImageData?
    private let state: Lock<State>

    init(
        url: URL,
        stage: DownloadDecodeStage? = nil,
        trace: LoadTrace? = nil,
        partialData: PartialImageData? = nil,
        onProgress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping Completion
    ) {
        self.url = url
        self.stage = stage
        self.trace = trace
        self.partialData = partialData
        wantsProgress = onProgress != nil
        state = Lock(State(onProgress: onProgress, completion: completion))
    }

    /// Whether the end was a cancel.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// What was sent, as the hooks made it, from the start on.
    var request: DownloadRequest? { state.withLock { $0.request } }
    /// The response, from its arrival on.
    var response: HTTPResponse? { state.withLock { $0.response } }
    /// The timings, from the end on.
    var metrics: DownloadMetrics? { state.withLock { $0.metrics } }

    func note(_ request: DownloadRequest) { state.withLock { $0.request = request } }
    func note(_ response: HTTPResponse) { state.withLock { $0.response = response } }

    /// Whether anybody wants to know of events.
    var wantsEvents: Bool { trace?.isActive ?? false }

    /// Leaves an event; ``deliverEvents()`` brings it. Calls nobody, so it may be done with a lock held that events are to be
    /// ordered by.
    func leave(_ event: WebImageLoadEvent.Kind) {
        guard wantsEvents else { return }
        state.withLock { if $0.result == nil { $0.events.append(event) } }
    }

    /// Brings the events that were left, unless another thread is at it, which then does.
    func deliverEvents() {
        let mustDeliver = state.withLock { $0.events.isEmpty ? false : Self.claim(&$0) }
        if mustDeliver { deliver() }
    }

    /// Passes progress on, unless newer progress or the end was there first.
    func post(_ progress: LoadProgress) {
        guard wantsProgress else { return }
        let mustDeliver = state.withLock { state -> Bool in
            guard state.result == nil, progress.receivedByteCount > state.latest else { return false }
            state.latest = progress.receivedByteCount
            state.progress = progress
            return Self.claim(&state)
        }
        if mustDeliver { deliver() }
    }

    /// Passes the end on, unless there was one.
    func finish(_ result: Result<LoadedImageData, WebImageError>, metrics: DownloadMetrics? = nil) {
        let mustDeliver = state.withLock { state -> Bool in
            guard state.result == nil else { return false }
            state.result = result
            state.metrics = metrics
            if case .failure(let error) = result {
                state.progress = nil
                state.isCancelled = error.code == .cancelled
            }
            return Self.claim(&state)
        }
        if mustDeliver { deliver() }
    }

    private static func claim(_ state: inout State) -> Bool {
        guard !state.isDelivering else { return false }
        state.isDelivering = true
        return true
    }

    private func deliver() {
        while true {
            switch state.withLock({ Self.next(&$0) }) {
            case .event(let event): trace?.note(event)
            case .progress(let progress, let receive): receive(progress)
            case .end(let result, let complete): complete(result)
            case .nothing: return
            }
        }
    }

    private static func next(_ state: inout State) -> Delivery {
        if !state.events.isEmpty { return .event(state.events.removeFirst()) }
        if let progress = state.progress, let receive = state.onProgress {
            state.progress = nil
            return .progress(progress, receive)
        }
        if let result = state.result, let complete = state.completion {
            state.completion = nil
            state.onProgress = nil
            // Whoever holds the token must not hold the bytes.
            state.result = .failure(.cancelled())
            return .end(result, complete)
        }
        state.isDelivering = false
        return .nothing
    }
}
