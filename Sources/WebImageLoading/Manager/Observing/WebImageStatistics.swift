/// What loads have come to so far, and what is under way; see ``WebImageManager/statistics``.
///
/// The counters are read one after the other while loads go on, so sums may be off by those that change just then.
public struct WebImageStatistics: Sendable, Hashable {
    /// How often a level of the caches had what a load wanted.
    public struct Tier: Sendable, Hashable {
        /// Loads that got their picture there.
        public var hits = 0
        /// Loads that looked there and did not.
        public var misses = 0
        /// The part of the looks that were hits, between 0 and 1; 0 when there were none.
        public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
    }

    // MARK: This manager's loads

    /// The memory cache.
    public var memory = Tier()
    /// The disk cache. A load that looks there for a thumbnail and then for the original counts once.
    public var disk = Tier()
    /// Loads that were begun.
    public var loads = 0
    /// Loads that delivered a picture.
    public var delivered = 0
    /// Loads that failed.
    public var failed = 0
    /// Loads that were cancelled.
    public var cancelled = 0
    /// Loads under way.
    public var runningLoads = 0

    // MARK: The work that managers share

    /// How often work was shared that others had begun.
    public var joined = 0
    /// How often a loader was asked.
    public var downloads = 0
    /// How often a loader failed; one that was cancelled, or found nothing newer, has not.
    public var downloadFailures = 0
    /// Further attempts that downloaders made on their own.
    public var retries = 0
    /// Bytes that loaders brought, as they came over the wire where that is known.
    public var receivedByteCount: Int64 = 0
    /// Bytes from loaders that were given to disk caches; what is encoded for the disk is not counted.
    public var storedByteCount: Int64 = 0
    /// Pictures that were decoded.
    public var decodes = 0
    /// Pixels of those.
    public var decodedPixelCount: Int64 = 0
    /// Pieces of work under way: readings, downloads, decodes and what waits for them.
    public var runningWorks = 0
    /// Downloads that loaders have under way.
    public var runningDownloads = 0
    /// Downloads that wait for their turn: until there is room for their bytes, or in this manager's downloader.
    public var waitingDownloads = 0
    /// Decodes and transforms that wait for a thread.
    public var waitingDecodes = 0
    /// Bytes that wait to be decoded, or are expected to.
    public var undecodedByteCount = 0
}

extension WebImageManager {
    /// What the loads of this manager have come to, and what is under way. Downloads, decodes and queues are counted for all
    /// managers together that share work, as all do that are made with ``init(cache:loader:memoryBudget:)`` without a budget.
    ///
    /// Takes a few locks for a moment; the counting itself takes none.
    public var statistics: WebImageStatistics {
        var result = WebImageStatistics()
        let direct = totals.directHits.value
        result.memory = .init(hits: totals.memory.hits.value + direct, misses: totals.memory.misses.value)
        result.disk = .init(hits: totals.disk.hits.value, misses: totals.disk.misses.value)
        result.delivered = totals.delivered.value + direct
        result.failed = totals.failed.value
        result.cancelled = totals.cancelled.value
        result.runningLoads = runningCount
        result.loads = result.delivered + result.failed + result.cancelled + result.runningLoads
        result.joined = pipeline.joinCount
        result.downloads = pipeline.totals.downloads.value
        result.downloadFailures = pipeline.totals.downloadFailures.value
        result.retries = pipeline.totals.retries.value
        result.receivedByteCount = Int64(pipeline.totals.receivedByteCount.value)
        result.storedByteCount = Int64(pipeline.totals.storedByteCount.value)
        result.decodes = pipeline.totals.decodes.value
        result.decodedPixelCount = Int64(pipeline.totals.decodedPixelCount.value)
        result.runningWorks = pipeline.runningCount
        result.runningDownloads = pipeline.totals.runningDownloads.value
        result.waitingDownloads = pipeline.gate.waitingCount
        result.waitingDecodes = pipeline.decodeQueue.waitingCount + WorkerPools.waitingCount
        result.undecodedByteCount = pipeline.gate.reservedByteCount
        let waiting = imageLoader.waitingDownloadCount
        result.waitingDownloads += waiting
        result.runningDownloads = max(result.runningDownloads - waiting, 0)
        return result
    }
}

extension ImageLoading {
    /// Callers that wait in downloaders for their turn, as far as that can be told.
    fileprivate var waitingDownloadCount: Int {
        if let downloader = self as? WebImageDownloader {
            let statistics = downloader.statistics
            return statistics.waiting + statistics.waitingForRetry
        }
        return (self as? ImageLoadersManager)?.loaders.reduce(0) { $0 + $1.waitingDownloadCount } ?? 0
    }
}
