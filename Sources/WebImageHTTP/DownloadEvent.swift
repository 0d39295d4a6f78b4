public import FoundationEssentials

/// Something that happened in a downloader; see ``WebImageDownloader/observe(on:_:)``.
///
/// For each download the events come in this order: `started`; then, for each attempt, `receivedResponse` if there was one and
/// `willRetry` if another attempt follows; at the end `stopped`, and `finished` if it succeeded. For every `started` there is
/// exactly one `stopped`, so that an indicator may count them. A download that is given up before it starts has no events.
public enum DownloadEvent: Sendable {
    /// A download has left the queue and is sent; or has failed at once, because its host is left alone.
    case started(DownloadInfo)
    /// The head of a response has arrived. It may still be refused.
    case receivedResponse(DownloadInfo, HTTPResponse)
    /// An attempt has failed, and another one follows so many seconds later, or when there is room after that.
    case willRetry(DownloadInfo, WebImageError, after: Double)
    /// A download is over: nil when it succeeded, ``WebImageError/Code/cancelled`` when all its callers left. The metrics are
    /// missing when it was cancelled.
    case stopped(DownloadInfo, WebImageError?, DownloadMetrics?)
    /// A download has succeeded.
    case finished(DownloadInfo, DownloadMetrics)

    /// Which download it is.
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
    /// Tells the downloads of a downloader apart; stays the same through all attempts.
    public let id: UInt64
    /// What is being downloaded, as the callers asked for it.
    public let url: URL
    /// Callers that wait for it.
    public let callerCount: Int
    /// The attempt, 1 for the first.
    public let attempt: Int
}

/// What a downloader is doing, and what it has done since it was made.
public struct DownloadStatistics: Sendable, Hashable {
    /// Downloads under way.
    public var running = 0
    /// Downloads that wait for their turn.
    public var waiting = 0
    /// Downloads that failed and wait for the time of their next attempt, and those that wait until their host may be asked.
    public var waitingForRetry = 0
    /// Callers that wait for downloads.
    public var callers = 0
    /// Downloads that were started; each of them is under way or one of the next three.
    public var started = 0
    /// Downloads that succeeded.
    public var succeeded = 0
    /// Downloads that failed for good.
    public var failed = 0
    /// Downloads that had been started when their last caller left.
    public var cancelled = 0
    /// Attempts after the first ones.
    public var retries = 0
    /// Bytes of bodies as they came over the wire; of cancelled downloads, what had been reported.
    public var receivedByteCount: Int64 = 0

    /// All zero.
    public init() {}
}
