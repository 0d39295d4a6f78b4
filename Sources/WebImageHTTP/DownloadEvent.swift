public import FoundationEssentials

/// Something that happened in a downloader; see ``WebImageDownloader/observe(on:_:)``.
///
/// For each download, the events come in this order: `started`; then, for each attempt, `receivedResponse` if there was a response
/// and `willRetry` if another attempt follows; at the end `stopped`, and `finished` if it succeeded. Every `started` is followed by
/// exactly one `stopped`, so an activity indicator may count them. A download that is cancelled before it starts has no events.
public enum DownloadEvent: Sendable {
    /// A download has left the queue and is sent; or it has failed at once because its host is backed off.
    case started(DownloadInfo)
    /// The response head has arrived. The response may still be refused.
    case receivedResponse(DownloadInfo, HTTPResponse)
    /// An attempt has failed. Another one follows after the given number of seconds, or later when a slot is free.
    case willRetry(DownloadInfo, WebImageError, after: Double)
    /// A download has ended: the error is nil if it succeeded, ``WebImageError/Code/cancelled`` if all its callers cancelled. The
    /// metrics are nil if it was cancelled.
    case stopped(DownloadInfo, WebImageError?, DownloadMetrics?)
    /// A download has succeeded.
    case finished(DownloadInfo, DownloadMetrics)

    /// The download that the event belongs to.
    public var download: DownloadInfo {
        switch self {
        case .started(let info), .receivedResponse(let info, _), .willRetry(let info, _, _), .stopped(let info, _, _),
            .finished(let info, _):
            info
        }
    }
}

/// A download at the time of an event.
public struct DownloadInfo: Sendable, Hashable {
    /// Identifies the download within its downloader; the same for all attempts.
    public let id: UInt64
    /// The URL as the callers requested it.
    public let url: URL
    /// The number of callers that wait for the download.
    public let callerCount: Int
    /// The number of the attempt, 1 for the first.
    package let attempt: Int
}

/// The current and past activity of a downloader since it was created.
public struct DownloadStatistics: Sendable, Hashable {
    /// The number of running downloads.
    public var running = 0
    /// The number of downloads in the queue.
    public var waiting = 0
    /// The number of downloads that failed and wait for their next attempt, plus those that wait until their host may be contacted.
    package var waitingForRetry = 0
    /// The number of callers that wait for downloads.
    package var callers = 0
    /// The number of downloads that were started; each of them is running or counted by one of the next three.
    package var started = 0
    /// The number of downloads that succeeded.
    package var succeeded = 0
    /// The number of downloads that failed for good.
    package var failed = 0
    /// The number of downloads that had been started when their last caller cancelled.
    package var cancelled = 0
    /// The number of attempts after the first ones.
    package var retries = 0
    /// The number of body bytes received over the wire; for cancelled downloads, the bytes reported so far.
    public var receivedByteCount: Int64 = 0

    /// Creates statistics with all values zero.
    package init() {}
}
