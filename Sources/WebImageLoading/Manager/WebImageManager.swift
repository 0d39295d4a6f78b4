public import FoundationEssentials

/// The one door for every load: asks the caches, loads what they do not have, decodes, transforms, stores, delivers.
///
/// Safe to use from any thread. Loads of one picture share the work, also across managers.
public final class WebImageManager: Sendable {
    /// The manager that everything uses unless told otherwise: the shared cache and the shared loaders.
    public static let shared = WebImageManager()

    /// The cache.
    public let imageCache: any ImageCaching
    /// The loader.
    public let imageLoader: any ImageLoading
    /// Which sources may be asked, and what their answers may cost. ``SourcePolicy/trusted`` unless the manager was made with another.
    public let policy: SourcePolicy
    /// Whose workers decode its images; nil for those of the program's own loads.
    let workerDomain: String?
    let pipeline: Pipeline
    let clock: ClockSource
    let settings: Lock<Settings>
    /// What this manager's loads have come to.
    let totals = LoadTotals()
    /// Refreshes that no load waits for.
    let refreshes = StoreGroup()
    /// Loads under way that can be cancelled, by their number.
    let running = Lock<[UInt64: WebImageLoadOperation]>([:])
    let activity = Lock(Activity())

    struct Activity {
        /// URLs that failed for good and are not tried again.
        var failedURLs = ExpiringTable<URL, Void>(limit: 10_000)
        var missing = ExpiringTable<MissingRequest, WebImageError>(limit: 1024)
    }

    /// A manager of a cache and a loader.
    ///
    /// - Parameters:
    ///   - cache: where pictures are looked for and stored; ``defaultImageCache`` by default, and if there is none, the shared one.
    ///     The budget evicts from its memory.
    ///   - loader: what brings what the cache does not have; ``defaultImageLoader`` by default, and if there is none, the shared one.
    ///   - memoryBudget: what decoded pictures may take; by default the process's, which is off until it has a limit. Work is shared
    ///     with managers that have the same one.
    public convenience init(
        cache: (any ImageCaching)? = nil,
        loader: (any ImageLoading)? = nil,
        memoryBudget: DecodedMemoryBudget = .shared
    ) {
        self.init(
            cache: cache ?? Self.defaultImageCache ?? ImageCache.shared,
            loader: loader ?? Self.defaultImageLoader ?? ImageLoadersManager.shared,
            pipeline: memoryBudget.pipeline
        )
    }

    /// Within which its loads decode.
    public var memoryBudget: DecodedMemoryBudget { pipeline.budget }

    package init(
        cache: any ImageCaching,
        loader: any ImageLoading,
        pipeline: Pipeline,
        clock: ClockSource = .system,
        policy: SourcePolicy = .trusted
    ) {
        imageCache = cache
        imageLoader = loader
        self.policy = policy
        workerDomain = policy.isTrusted ? nil : policy.cacheNamespace
        self.pipeline = pipeline
        self.clock = clock
        settings = Lock(Settings())
        if let cache = cache as? ImageCache { pipeline.budget.attach(cache) }
        if let caches = cache as? ImageCachesManager {
            for case let cache as ImageCache in caches.caches { pipeline.budget.attach(cache) }
        }
    }

    /// Whether a load is under way.
    public var isRunning: Bool { runningCount > 0 }

    /// Loads under way that can be cancelled.
    var runningCount: Int { running.withLock { $0.count } }

    /// Returns when no refresh is under way that a server allowed to come behind a stale picture (`stale-while-revalidate`), and what
    /// the refreshes brought has been stored. A program that is about to end waits for it, so that the next one has what is newer.
    ///
    /// Each refresh takes as long as a download may; see ``WebImageDownloaderConfig``.
    public func finishRefreshes() async {
        await withCheckedContinuation { continuation in refreshes.whenDone { continuation.resume() } }
    }

    /// Cancels every load of this manager, the latest first.
    public func cancelAll() {
        // The latest first: an earlier one would hand its place in the downloader to a later one that is about to go, too.
        let loads = running.withLock { exchange(&$0, for: [:]) }.sorted { $0.key > $1.key }
        WebImageLoadOperation.cancel(loads.map(\.value), in: pipeline)
    }

    /// Allows a URL that failed before, or at which there was nothing, to be tried again.
    public func removeFailedURL(_ url: URL) {
        activity.withLock { activity in
            activity.failedURLs.remove(url)
            activity.missing.removeAll { $0.url == url }
        }
    }

    /// Allows every URL that failed before, or at which there was nothing, to be tried again.
    public func removeAllFailedURLs() {
        activity.withLock { $0 = Activity() }
    }

    /// What a server said of a request for which it has nothing, if that still holds.
    func knownMissing(_ request: MissingRequest) -> WebImageError? {
        activity.withLock { $0.missing.value(of: request, at: clock.wallTime()) }
    }

    /// Forgets that there was nothing.
    func noteFound(_ request: MissingRequest) { activity.withLock { $0.missing.remove(request) } }

    /// Whether a URL failed before and is not tried again without ``WebImageOptions/retryFailed``; see ``failedURLLifetime``.
    public func isFailed(_ url: URL) -> Bool {
        activity.withLock { $0.failedURLs.value(of: url, at: Double(clock.monotonicNanoseconds())) != nil }
    }

    /// Remembers or forgets a URL by how its load ended.
    func noteEnd(of url: URL, options: WebImageOptions, loader: (any ImageLoading)?, error: WebImageError?) {
        guard let error else {
            if options.contains(.retryFailed) { removeFailedURL(url) }
            return
        }
        // What lies in the cache says nothing about what the URL would have brought.
        guard !options.contains(.fromCacheOnly), error.isWorthRemembering else { return }
        let isBlocked =
            delegate?.imageManager(self, shouldBlockFailedURL: url, error: error)
            ?? (loader ?? imageLoader).shouldBlockFailedURL(url, error: error)
        guard isBlocked else { return }
        let (now, lifetime) = (Double(clock.monotonicNanoseconds()), failedURLLifetime ?? .infinity)
        activity.withLock { $0.failedURLs.insert(url, (), at: now, for: lifetime * 1e9) }
    }
}

extension WebImageError {
    /// Whether the error says something about the URL, and not only about this one load.
    fileprivate var isWorthRemembering: Bool {
        switch code {
        case .limitExceeded where isOfMemoryBudget: false
        case .cancelled, .notCached, .downloadRefused, .cacheNotModified: false
        default: true
        }
    }
}
