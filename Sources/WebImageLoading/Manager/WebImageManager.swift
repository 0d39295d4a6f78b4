public import FoundationEssentials

/// The entry point of every load: queries the caches, loads what they lack, decodes, transforms, stores and delivers.
///
/// Thread-safe. Loads of the same image are coalesced, also across managers.
public final class WebImageManager: Sendable {
    /// The default manager, with the shared cache and the shared loaders.
    public static let shared = WebImageManager()

    /// The image cache.
    public let imageCache: any ImageCaching
    /// The loader for images that are not cached.
    public let imageLoader: any ImageLoading
    /// The policy for allowed sources and the cost of their responses. ``SourcePolicy/trusted`` unless the manager was created with
    /// another.
    public let policy: SourcePolicy
    /// The domain of the worker processes that decode its images; nil for those of the program's own loads.
    let workerDomain: String?
    let pipeline: Pipeline
    let clock: ClockSource
    let settings: Lock<Settings>
    /// The counters of this manager's loads.
    let totals = LoadTotals()
    /// Background refreshes that no load waits for.
    let refreshes = StoreGroup()
    /// Running loads that can be cancelled, by their number.
    let running = Lock<[UInt64: WebImageLoadOperation]>([:])
    let activity = Lock(Activity())

    struct Activity {
        /// URLs that failed permanently and are not tried again.
        var failedURLs = ExpiringTable<URL, Void>(limit: 10_000)
        var missing = ExpiringTable<MissingRequest, WebImageError>(limit: 1024)
    }

    /// Creates a manager with a cache and a loader.
    ///
    /// - Parameters:
    ///   - cache: The image cache; ``defaultImageCache`` by default, and if there is none, the shared one. The memory budget evicts
    ///     from its memory.
    ///   - loader: The loader for images that are not cached; ``defaultImageLoader`` by default, and if there is none, the shared
    ///     one.
    ///   - memoryBudget: The memory limit of decoded images; by default the process's, which is off until it has a limit. Work is
    ///     shared only among managers with the same budget.
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

    /// The memory budget that limits this manager's decodes.
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

    /// A Boolean value that indicates whether a load is running.
    public var isRunning: Bool { runningCount > 0 }

    /// The number of running loads that can be cancelled.
    var runningCount: Int { running.withLock { $0.count } }

    /// Waits until every background refresh (`stale-while-revalidate`) has ended and its result is stored. Call it before the program
    /// exits, so that its next run has the newer images.
    ///
    /// Each refresh takes as long as a download may; see ``WebImageDownloaderConfig``.
    public func finishRefreshes() async {
        await withCheckedContinuation { continuation in refreshes.whenDone { continuation.resume() } }
    }

    /// Cancels every load of this manager, the latest first.
    public func cancelAll() {
        // The latest first: an earlier load would hand its download slot to a later one that is about to be cancelled, too.
        let loads = running.withLock { exchange(&$0, for: [:]) }.sorted { $0.key > $1.key }
        WebImageLoadOperation.cancel(loads.map(\.value), in: pipeline)
    }

    /// Allows a URL that failed before, or was not found, to be tried again.
    public func removeFailedURL(_ url: URL) {
        activity.withLock { activity in
            activity.failedURLs.remove(url)
            activity.missing.removeAll { $0.url == url }
        }
    }

    /// Allows every URL that failed before, or was not found, to be tried again.
    public func removeAllFailedURLs() {
        activity.withLock { $0 = Activity() }
    }

    /// Returns the server's cached "not found" answer to a request, if it has not expired.
    func knownMissing(_ request: MissingRequest) -> WebImageError? {
        activity.withLock { $0.missing.value(of: request, at: clock.wallTime()) }
    }

    /// Removes the cached "not found" answer of a request.
    func noteFound(_ request: MissingRequest) { activity.withLock { $0.missing.remove(request) } }

    /// Returns whether a URL failed before and is not tried again without ``WebImageOptions/retryFailed``; see
    /// ``failedURLLifetime``.
    public func isFailed(_ url: URL) -> Bool {
        activity.withLock { $0.failedURLs.value(of: url, at: Double(clock.monotonicNanoseconds())) != nil }
    }

    /// Adds a URL to the failed ones or removes it, depending on how its load ended.
    func noteEnd(of url: URL, options: WebImageOptions, loader: (any ImageLoading)?, error: WebImageError?) {
        guard let error else {
            if options.contains(.retryFailed) { removeFailedURL(url) }
            return
        }
        // A cache query says nothing about what the URL would have returned.
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
    /// True if the error is about the URL, and not only about this one load.
    fileprivate var isWorthRemembering: Bool {
        switch code {
        case .limitExceeded where isOfMemoryBudget: false
        case .cancelled, .notCached, .downloadRefused, .cacheNotModified: false
        default: true
        }
    }
}
