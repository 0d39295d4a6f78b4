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
    package let policy: SourcePolicy
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
    package var memoryBudget: DecodedMemoryBudget { pipeline.budget }

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
        if let cache = cache.localImageCache { pipeline.budget.attach(cache) }
        if let caches = cache as? ImageCachesManager {
            for case let cache as ImageCache in caches.caches { pipeline.budget.attach(cache) }
        }
    }

    /// A Boolean value that indicates whether a load is running.
    public var isRunning: Bool { runningCount > 0 }

    /// The number of running loads that can be cancelled.
    var runningCount: Int { running.withLock { $0.count } }

    /// The number of images that were encoded for clients (``loadEncodedImage(with:options:context:encoding:completion:)``), by all managers
    /// that share work.
    package var encodeCount: Int { pipeline.totals.encodes.value }

    /// Waits until every background refresh (`stale-while-revalidate`) has ended and its result is stored. Call it before the program
    /// exits, so that its next run has the newer images.
    ///
    /// Each refresh takes as long as a download may; see ``WebImageDownloaderConfig``.
    package func finishRefreshes() async {
        await awaitCompletion { refreshes.whenDone($0) }
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
    package func isFailed(_ url: URL) -> Bool {
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
        case .cancelled, .notCached, .downloadRefused, .cacheNotModified, .pageNotFound, .previewNotFound: false
        default: true
        }
    }
}

extension WebImageManager {
    /// The components of a manager for loads whose context does not override them. Immutable: a change creates a new instance.
    final class Parts: Sendable {
        struct Values: Sendable {
            var transformer: (any ImageTransformer)?
            var cacheKeyFilter: CacheKeyFilter?
            var cacheSerializer: CacheSerializer?
            var optionsProcessor: WebImageOptionsProcessor?
            var observer: (any WebImageLoadObserver)?
            var cachePolicy = CachePolicy.immutable
            var decoding = DecodingPlace.inProcess
            var desktopThumbnails: DesktopThumbnailCache?

            /// True if all values are the defaults.
            var isPlain: Bool {
                transformer == nil && cacheKeyFilter == nil && cacheSerializer == nil && optionsProcessor == nil
                    && observer == nil && cachePolicy == .immutable && decoding == .inProcess
                    && desktopThumbnails == nil
            }
        }

        let values: Values
        init(_ values: Values) { self.values = values }
    }

    struct Settings: Sendable {
        /// Nil if all are the defaults, which is the usual case and costs a load one check.
        var parts: Parts?
        weak var delegate: (any WebImageManagerDelegate)?
        var failedURLLifetime: Double?
        /// Not one of the parts: a memory hit does not need it.
        var sizeReuse = SizeReuse.none
    }

    /// The manager's current components; nil if all are the defaults.
    var parts: Parts? { settings.withLock { $0.parts } }

    private func change(_ body: (inout Parts.Values) -> Void) {
        let former = settings.withLock { settings -> Parts? in
            var values = settings.parts?.values ?? Parts.Values()
            body(&values)
            return exchange(&settings.parts, for: values.isPlain ? nil : Parts(values))
        }
        // Released outside the lock: components are user objects, whose deinit may run any code.
        withExtendedLifetime(former) {}
    }

    /// The transformer of images whose load's context has none; nil by default.
    public var transformer: (any ImageTransformer)? {
        get { parts?.values.transformer }
        set { change { $0.transformer = newValue } }
    }

    /// The key filter of loads whose context has none; nil (the default) uses the URL's absolute string.
    public var cacheKeyFilter: CacheKeyFilter? {
        get { parts?.values.cacheKeyFilter }
        set { change { $0.cacheKeyFilter = newValue } }
    }

    /// The serializer that produces the bytes on disk, for loads whose context has none; nil by default.
    public var cacheSerializer: CacheSerializer? {
        get { parts?.values.cacheSerializer }
        set { change { $0.cacheSerializer = newValue } }
    }

    /// The processor that changes options and context of every load before anything else; nil by default.
    public var optionsProcessor: WebImageOptionsProcessor? {
        get { parts?.values.optionsProcessor }
        set { change { $0.optionsProcessor = newValue } }
    }

    /// The observer of every event in every load of this manager; nil by default. A context's observer is also notified.
    public var observer: (any WebImageLoadObserver)? {
        get { parts?.values.observer }
        set { change { $0.observer = newValue } }
    }

    /// The policy that decides how long cached images stay usable, for loads whose context has none. ``CachePolicy/immutable`` by
    /// default: the content of a URL never changes, as in SDWebImage.
    ///
    /// Images in memory are validated without a task or a hop if their validators are in memory, too: those of the 4096 most
    /// recently used entries.
    public var cachePolicy: CachePolicy {
        get { parts?.values.cachePolicy ?? .immutable }
        set { change { $0.cachePolicy = newValue } }
    }

    /// The place where images are decoded for loads whose context has none. ``DecodingPlace/inProcess`` by default. An image in memory is
    /// used wherever it was decoded.
    public var decoding: DecodingPlace {
        get { parts?.values.decoding ?? .inProcess }
        set { change { $0.decoding = newValue } }
    }

    /// The thumbnails of the desktop that small images of local files are read from; nil by default, for none.
    ///
    /// See ``DesktopThumbnailCache`` for when a thumbnail is used. Nothing is written there, except by
    /// ``DesktopThumbnailCache/makeThumbnail(of:size:with:)``. Ignored by managers with a ``SourcePolicy``.
    public var desktopThumbnails: DesktopThumbnailCache? {
        get { parts?.values.desktopThumbnails }
        set { change { $0.desktopThumbnails = newValue } }
    }

    /// The use of images of other sizes if the exact result is not cached, for loads whose context has no
    /// ``WebImageContext/sizeReuse``. ``SizeReuse/none`` by default; views use at least
    /// ``SizeReuse/memory``.
    public var sizeReuse: SizeReuse {
        get { settings.withLock { $0.sizeReuse } }
        set { settings.withLock { $0.sizeReuse = newValue } }
    }

    /// The number of seconds for which a permanently failed URL is not tried again. Nil (the default) is the lifetime of the
    /// process; with 0 or less, failures are not remembered. Applies to failures after the change.
    public var failedURLLifetime: Double? {
        get { settings.withLock { $0.failedURLLifetime } }
        set { settings.withLock { $0.failedURLLifetime = newValue } }
    }

    private static let cache = Lock<(any ImageCaching)?>(nil)
    private static let loader = Lock<(any ImageLoading)?>(nil)

    /// The cache of managers created later without one; ``ImageCache/shared`` if nil, the default. ``shared`` is created on first
    /// use.
    public static var defaultImageCache: (any ImageCaching)? {
        get { cache.withLock { $0 } }
        set { withExtendedLifetime(cache.withLock { exchange(&$0, for: newValue) }) {} }
    }

    /// The loader of managers created later without one; ``ImageLoadersManager/shared`` if nil, the default. ``shared`` is
    /// created on first use.
    public static var defaultImageLoader: (any ImageLoading)? {
        get { loader.withLock { $0 } }
        set { withExtendedLifetime(loader.withLock { exchange(&$0, for: newValue) }) {} }
    }
}

/// Replaces a value and returns the previous one, so that the caller can release it outside a lock.
func exchange<Value>(_ place: inout Value, for value: Value) -> Value {
    defer { place = value }
    return place
}

extension WebImageManager {
    /// Returns the cache key of the original at `url`; empty if the key filter returns none. The ``optionsProcessor`` is not called. If
    /// the downloader's header fields or credentials identify the user, the key includes a digest of them.
    public func cacheKey(for url: URL) -> String { originalKey(for: url, given(nil)) ?? "" }

    /// Returns the cache key of the result of a load with `context`: the original's key, with a suffix for a thumbnail size and one
    /// for a transformer. Empty if the key filter returns none. The ``optionsProcessor`` is not called; if it changes sizes,
    /// transformers or filters, the load has another key. If the context's ``WebImageContext/additionalHeaders`` contain fields that
    /// identify the user, such as `Authorization` and `Cookie`, the key includes a digest of them.
    public func cacheKey(for url: URL, context: WebImageContext?) -> String {
        let load = given(context)
        return originalKey(for: url, load).map { resultKey(for: $0, load) } ?? ""
    }

    /// A load without the ``optionsProcessor``.
    private func given(_ context: WebImageContext?) -> ResolvedLoad {
        ResolvedLoad(options: [], context: context ?? WebImageContext(), parts: parts)
    }

    func originalKey(for url: URL, _ load: ResolvedLoad) -> String? {
        let rights = rights(of: url, load)
        // No bytes of a video are stored, only stills, so each time has a separate original.
        let time = load.context.hasRareProperties ? load.context.videoTime : nil
        func key(_ key: String) -> String { CacheKeys.videoTime(rights.key(key), time) }
        guard let filter = load.context.cacheKeyFilter ?? load.parts?.values.cacheKeyFilter else {
            return key(url.absoluteString)
        }
        // Otherwise all URLs with an empty key would share an entry.
        return filter.cacheKey(for: url).flatMap { $0.isEmpty ? nil : key($0) }
    }

    /// The access rights for loading a URL: those of the context's header fields and the loader's own.
    func rights(of url: URL, _ load: ResolvedLoad) -> LoadRights {
        var request = ImageLoadRequest(url: url)
        if load.context.hasRareProperties { request.additionalHeaders = load.context.additionalHeaders }
        return loader(for: load).rights(for: request)
    }

    func resultKey(for originalKey: String, _ load: ResolvedLoad) -> String {
        var key = CacheKeys.selection(originalKey, load.context.page ?? 0, load.context.rawDevelopment ?? .preview)
        if let size = load.context.thumbnailPixelSize, size.isUsable {
            let preserves = load.context.preserveAspectRatio ?? true
            let covers = load.context.thumbnailCovers ?? false
            key = CacheKeys.thumbnail(key, size: size, preserveAspectRatio: preserves, covers: covers)
        }
        if let transformer = transformer(for: load) {
            var transformerKey = transformer.transformerKey
            // Transformers work in points: the same one produces other pixels at another scale.
            if let scale = load.context.explicitScale, scale != ImageScaleFactor.forKey(originalKey) {
                transformerKey += "-Scale(\(FixedDecimal.string(scale)))"
            }
            key = CacheKeys.transformed(key, by: transformerKey)
        }
        return key
    }

    func transformer(for load: ResolvedLoad) -> (any ImageTransformer)? {
        let choice: (any ImageTransformer)? =
            switch load.context.imageTransformer {
            case .inherited: load.parts?.values.transformer
            case .none: nil
            case .transformer(let transformer): transformer
            }
        // An empty chain changes nothing: the result is the original, with the same key.
        if let chain = choice as? PipelineTransformer, chain.flattened.isEmpty { return nil }
        return choice
    }
}

extension WebImageContext {
    /// The scale given by the context, in place of the one in the key.
    var explicitScale: Double? {
        if let imageScaleFactor, imageScaleFactor >= 1 { return imageScaleFactor }
        guard let factor = decodeOptions?.scaleFactor, factor > 1 else { return nil }
        return factor
    }
}
