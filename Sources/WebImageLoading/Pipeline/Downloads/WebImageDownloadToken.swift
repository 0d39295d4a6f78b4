public import FoundationEssentials

/// One caller's subscription to a download.
///
/// Requests for the same download are coalesced; each caller has a separate token. Cancelling one leaves the others; cancelling
/// the last one ends the download.
public final class WebImageDownloadToken: ImageLoaderOperation {
    private struct State {
        var completion: (@Sendable (WorkResult) -> Void)?
        /// Nil after the end, as it owns the hooks of the load.
        var subscription: Pipeline.Subscription?
        var download: DownloadRecord?
        var isCancelled = false
    }

    /// The URL being downloaded.
    public let url: URL
    private let pipeline: Pipeline
    private let state: Lock<State>

    init(
        _ work: any Work,
        url: URL,
        priority: LoadPriority,
        pipeline: Pipeline,
        progress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping @Sendable (WorkResult) -> Void
    ) {
        self.url = url
        self.pipeline = pipeline
        state = Lock(State(completion: completion))
        let subscription = pipeline.subscribe(to: work, priority: priority, progress: progress) { [self] in end($0) }
        guard let subscription else { return }
        let source = pipeline.source(of: subscription)
        state.withLock { state in
            if state.completion == nil { state.download = source.download } else { state.subscription = subscription }
        }
        // It may have joined a load that is delayed by back-pressure.
        if case .fetch(let plan) = source.key, plan.value.isGated.value { source.skipGate() }
    }

    private var subscription: Pipeline.Subscription? { state.withLock { $0.subscription } }
    private var download: DownloadRecord? {
        let (subscription, download) = state.withLock { ($0.subscription, $0.download) }
        return download ?? subscription.flatMap { pipeline.source(of: $0).download }
    }

    /// The request as sent, after a request modifier and without redirects; nil until it has been sent.
    public var request: DownloadRequest? { download?.facts(\.course.request) }

    /// The response, after a response modifier; nil until its head has arrived.
    public var response: HTTPResponse? { download?.facts(\.course.response) }

    /// The metrics of the download; nil until it has ended.
    public var metrics: DownloadMetrics? { download?.facts(\.course.metrics) }

    /// Cancels this caller's download. The completion is called with ``WebImageError/Code/cancelled``, before this returns if its
    /// queue allows and no other callback is running. No effect after the end.
    public func cancel() {
        guard let subscription else { return }
        pipeline.unsubscribe(subscription) {
            state.withLock { $0.isCancelled = true }
        } then: { [self] in
            end(.failure(.cancelled(url)))
        }
    }

    /// A Boolean value that indicates whether ``cancel()`` was called before the end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Changes the priority of the download while it waits to start. The download has the highest priority of its callers.
    public func setPriority(_ priority: LoadPriority) {
        if let subscription { pipeline.setPriority(priority, of: subscription) }
    }

    private func end(_ result: WorkResult) {
        let download = download
        let (completion, subscription) = state.withLock { state in
            if case .failure(let error) = result { state.isCancelled = error.code == .cancelled }
            state.download = download
            defer { (state.completion, state.subscription) = (nil, nil) }
            return (state.completion, state.subscription)
        }
        withExtendedLifetime(subscription) { completion?(result) }
    }
}
