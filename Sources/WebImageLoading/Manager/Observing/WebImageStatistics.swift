/// The counters of all loads so far, and of running work; see ``WebImageManager/statistics``.
///
/// The counters are read one after the other while loads continue, so sums may be off by those that are just changing.
public struct WebImageStatistics: Sendable, Hashable {
    /// The hits and misses of a cache level.
    public struct Tier: Sendable, Hashable {
        /// The number of loads that found their image there.
        public var hits = 0
        /// The number of loads that queried the level and found nothing usable.
        public var misses = 0
        /// The ratio of hits to lookups, between 0 and 1; 0 without lookups.
        public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
    }

    // MARK: This manager's loads

    /// The lookups in the memory cache.
    public var memory = Tier()
    /// The lookups in the disk cache. A load that queries it for a thumbnail and then for the original counts once.
    public var disk = Tier()
    /// The number of loads started.
    public var loads = 0
    /// The number of loads that delivered an image.
    public var delivered = 0
    /// The number of loads that failed.
    public var failed = 0
    /// The number of loads that were cancelled.
    public var cancelled = 0
    /// The number of running loads.
    public var runningLoads = 0

    // MARK: Work shared by managers

    /// The number of times that a load was coalesced with running work.
    public var joined = 0
    /// The number of requests to loaders.
    public var downloads = 0
    /// The number of failed requests to loaders; cancelled and "not modified" ones do not count.
    public var downloadFailures = 0
    /// The number of automatic retries by downloaders.
    package var retries = 0
    /// The bytes received by loaders, as transferred where that is known.
    public var receivedByteCount: Int64 = 0
    /// The bytes from loaders that were passed to disk caches; data encoded for the disk does not count.
    package var storedByteCount: Int64 = 0
    /// The number of decoded images.
    public var decodes = 0
    /// The number of pixels of the decoded images.
    package var decodedPixelCount: Int64 = 0
    /// The number of running works: disk reads, downloads, decodes, and works that depend on them.
    package var runningWorks = 0
    /// The number of running downloads.
    package var runningDownloads = 0
    /// The number of downloads waiting for their turn: for back-pressure to ease, or in this manager's downloader.
    public var waitingDownloads = 0
    /// The number of decodes and transforms waiting for a thread.
    public var waitingDecodes = 0
    /// The bytes that wait to be decoded, or are expected to arrive for it.
    package var undecodedByteCount = 0
}

extension WebImageManager {
    /// The counters of this manager's loads, and of running work. Downloads, decodes and queues are counted for all managers that
    /// share work, as do all created with ``init(cache:loader:memoryBudget:)`` without a budget.
    ///
    /// Reading takes a few locks briefly; counting takes none.
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
    /// The callers waiting in downloaders for their turn, as far as known.
    fileprivate var waitingDownloadCount: Int {
        if let downloader = self as? WebImageDownloader {
            let statistics = downloader.statistics
            return statistics.waiting + statistics.waitingForRetry
        }
        return (self as? ImageLoadersManager)?.loaders.reduce(0) { $0 + $1.waitingDownloadCount } ?? 0
    }
}
