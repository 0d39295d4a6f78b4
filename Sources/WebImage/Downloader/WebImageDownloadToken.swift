public import FoundationEssentials

/// One caller's part in a download.
///
/// Several callers that ask for the same thing share one download; each has a token of its own. Giving up one leaves the
/// others; giving up the last one ends the download.
public final class WebImageDownloadToken: ImageLoaderOperation {
    /// What is being downloaded.
    public let url: URL
    private let core: DownloaderCore
    private let subscriber: DownloadSubscriber
    private let stage: DownloadDecodeStage?
    /// Nil when the download could not be.
    private let id: UInt64?

    init(
        url: URL,
        core: DownloaderCore,
        subscriber: DownloadSubscriber,
        id: UInt64?,
        stage: DownloadDecodeStage? = nil
    ) {
        self.url = url
        self.core = core
        self.subscriber = subscriber
        self.id = id
        self.stage = stage
    }

    /// What was sent, as a request modifier made it, redirects left out; nil until it has been sent.
    public var request: DownloadRequest? { subscriber.request }

    /// The response, as a response modifier made it; nil until its head has arrived.
    public var response: HTTPResponse? { subscriber.response }

    /// How long the download took; nil until it has ended.
    public var metrics: DownloadMetrics? { subscriber.metrics }

    /// Gives up. The completion is called with ``WebImageError/Code/cancelled``, before this returns if its queue allows and
    /// no other callback is running. No effect after the end.
    public func cancel() {
        if let id, core.cancel(id) { return }
        stage?.cancel()
    }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool { subscriber.isCancelled || stage?.isCancelled ?? false }

    /// Makes the download more or less urgent, while it waits to be started. It is as urgent as its most urgent caller.
    public func setPriority(_ priority: LoadPriority) {
        if let id { core.setPriority(priority, of: id) }
        stage?.setPriority(priority)
    }
}
