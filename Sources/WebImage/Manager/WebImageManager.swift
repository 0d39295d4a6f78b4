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
    let pipeline: Pipeline
    let settings: Lock<Settings>
    private let activity = Lock(Activity())

    private struct Activity {
        var failedURLs = FailedURLs()
        var running: [ObjectIdentifier: WebImageLoadOperation] = [:]
    }

    /// A manager of a cache and a loader, or of the shared ones.
    public convenience init(cache: (any ImageCaching)? = nil, loader: (any ImageLoading)? = nil) {
        self.init(
            cache: cache ?? ImageCache.shared,
            loader: loader ?? ImageLoadersManager.shared,
            pipeline: .shared
        )
    }

    init(cache: any ImageCaching, loader: any ImageLoading, pipeline: Pipeline) {
        imageCache = cache
        imageLoader = loader
        self.pipeline = pipeline
        settings = Lock(Settings())
    }

    /// Whether a load is under way.
    public var isRunning: Bool { activity.withLock { !$0.running.isEmpty } }

    /// Cancels every load of this manager.
    public func cancelAll() {
        let operations = activity.withLock { Array($0.running.values) }
        for operation in operations { operation.cancel() }
    }

    /// Allows a URL that failed before to be tried again.
    public func removeFailedURL(_ url: URL) { activity.withLock { $0.failedURLs.remove(url) } }

    /// Allows every URL that failed before to be tried again.
    public func removeAllFailedURLs() { activity.withLock { $0.failedURLs.removeAll() } }

    func isBlocked(_ url: URL) -> Bool { activity.withLock { $0.failedURLs.contains(url) } }

    /// Remembers or forgets a URL by how its load ended.
    func noteEnd(of url: URL, options: WebImageOptions, loader: any ImageLoading, error: WebImageError?) {
        if let error {
            // What lies in the cache says nothing about what the URL would have brought.
            guard !options.contains(.fromCacheOnly), error.code != .cancelled, error.code != .notCached,
                loader.shouldBlockFailedURL(url, error: error)
            else { return }
            activity.withLock { $0.failedURLs.insert(url) }
        } else if options.contains(.retryFailed) {
            removeFailedURL(url)
        }
    }

    func track(_ operation: WebImageLoadOperation) {
        let id = ObjectIdentifier(operation)
        // First the way out: from the moment it is in the list, another thread may end it.
        operation.addEndHandler { [weak self] in
            let ended = self?.activity.withLock { $0.running.removeValue(forKey: id) }
            withExtendedLifetime(ended) {}
        }
        activity.withLock { $0.running[id] = operation }
    }
}
