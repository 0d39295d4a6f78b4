public import FoundationEssentials

/// Loads images into the caches before they are needed.
///
/// A few at a time, in the order of the list, urgent lists first. A view that requests an image being prefetched joins that load
/// and raises its priority. Lists are independent of each other. Thread-safe.
public final class WebImagePrefetcher: Sendable {
    /// The caches that a prefetched image is stored in.
    public enum Target: Sendable, Hashable {
        /// The image is decoded and stored as the context says, by default in memory and on disk.
        case memory
        /// The bytes are stored on disk. Only their header is parsed, to verify that they are an image. They are fully decoded under a
        /// policy other than ``SourcePolicy/trusted``, with a cache serializer, and with a cache policy other than
        /// ``CachePolicy/immutable``.
        case disk
    }

    /// The prefetcher with the shared cache and the shared loaders.
    public static let shared = WebImagePrefetcher()

    /// The manager that loads the images.
    public let manager: WebImageManager
    let state = Lock(State())
    let queue: WorkQueue
    static let queue = WorkQueue(name: "webimage.prefetch", width: 1)

    /// - Parameter manager: By default a separate one with the shared cache and loaders: it shares downloads with the shared
    ///   manager, but not the list of failed URLs.
    public convenience init(manager: WebImageManager? = nil) {
        self.init(manager: manager ?? WebImageManager(), queue: Self.queue)
    }

    /// - Parameter queue: Starts the loads, one after the other.
    init(manager: WebImageManager, queue: WorkQueue) {
        self.manager = manager
        self.queue = queue
    }

    // Lists of a suspended prefetcher could never be resumed.
    deinit { cancelPrefetching() }

    /// The maximum number of concurrent loads over all lists; 3 by default, below 1 counts as 1. Can be changed at any time.
    public var maxConcurrentPrefetchCount: Int {
        get { state.withLock { $0.width } }
        set { change { $0.width = newValue } }
    }

    /// While true, no further URL is started; false by default. Releasing a suspended prefetcher cancels its lists.
    public var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set { change { $0.isSuspended = newValue } }
    }

    /// The default options of lists; ``WebImageOptions/lowPriority`` by default.
    public var options: WebImageOptions {
        get { state.withLock { $0.options } }
        set { change { $0.options = newValue } }
    }

    /// The default context of lists; nil by default.
    public var context: WebImageContext? {
        get { state.withLock { $0.context } }
        set { change { $0.context = newValue } }
    }

    /// The queue for delegate and closures, unless a context overrides it; the main thread by default.
    public var callbackQueue: CallbackQueue {
        get { state.withLock { $0.callbackQueue } }
        set { change { $0.callbackQueue = newValue } }
    }

    /// The delegate for all lists; nil by default, and held weakly.
    public var delegate: (any WebImagePrefetcherDelegate)? {
        get { state.withLock { $0.delegate } }
        set { change { $0.delegate = newValue } }
    }

    /// The number of URLs being loaded.
    package var runningCount: Int { state.withLock { $0.runningCount } }
    /// The number of waiting URLs.
    package var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Prefetches a list of URLs. A URL that occurs twice counts twice, and is downloaded once.
    ///
    /// - Parameters:
    ///   - urls: The URLs to load, in this order.
    ///   - target: The caches to store the images in.
    ///   - options: The prefetcher's by default.
    ///   - context: The prefetcher's by default.
    ///   - priority: That of the options by default.
    ///   - completion: Called once, when all are finished or the list was cancelled; for an empty list before the call returns.
    /// - Returns: The list, to cancel it, to change its priority, and to read its progress.
    @discardableResult
    public func prefetch(
        _ urls: [URL],
        target: Target = .memory,
        options: WebImageOptions? = nil,
        context: WebImageContext? = nil,
        priority: LoadPriority? = nil,
        completion: (@Sendable (PrefetchProgress) -> Void)? = nil
    ) -> WebImagePrefetchToken {
        prefetch(
            urls,
            target: target,
            options: options,
            context: context,
            priority: priority,
            progress: nil,
            completion: completion
        )
    }

    /// Prefetches a list of URLs, and calls `progress` for each finished URL.
    @discardableResult
    public func prefetch(
        _ urls: [URL],
        target: Target = .memory,
        options: WebImageOptions? = nil,
        context: WebImageContext? = nil,
        priority: LoadPriority? = nil,
        progress: (@Sendable (PrefetchProgress) -> Void)?,
        completion: (@Sendable (PrefetchProgress) -> Void)?
    ) -> WebImagePrefetchToken {
        let defaults = state.withLock { (options: $0.options, context: $0.context, queue: $0.callbackQueue) }
        let context = context ?? defaults.context
        let options = options ?? defaults.options
        let token = WebImagePrefetchToken(
            urls,
            target: target,
            options: options.subtracting([.lowPriority, .highPriority]),
            context: context,
            queue: context?.callbackQueue ?? defaults.queue,
            prefetcher: self,
            progress: progress,
            completion: urls.isEmpty ? nil : completion
        )
        if urls.isEmpty {
            completion?(token.progress)
        } else {
            add(token, priority: priority ?? options.priority)
        }
        return token
    }

    /// Prefetches a list of URLs and returns the final progress. Cancelling the task cancels the list.
    public func prefetchAll(
        _ urls: [URL],
        target: Target = .memory,
        options: WebImageOptions? = nil,
        context: WebImageContext? = nil,
        priority: LoadPriority? = nil
    ) async -> PrefetchProgress {
        var context = context ?? self.context ?? WebImageContext()
        context.callbackQueue = .inline
        let waiting = context
        return await awaitOperation { completion in
            prefetch(
                urls,
                target: target,
                options: options,
                context: waiting,
                priority: priority,
                completion: completion
            )
        }
    }

    /// Cancels every list.
    public func cancelPrefetching() { cancel(state.withLock { $0.tokens }) }
}

/// Receives the progress of a ``WebImagePrefetcher`` over all its lists. Called on the callback queue of the list concerned.
public protocol WebImagePrefetcherDelegate: AnyObject, Sendable {
    /// Called when a URL is finished, with or without an image; before the list's own progress closure.
    ///
    /// - Parameters:
    ///   - prefetcher: The prefetcher.
    ///   - url: The finished URL.
    ///   - finishedCount: The number of finished URLs of all running lists.
    ///   - totalCount: The number of URLs of all running lists.
    func prefetcher(_ prefetcher: WebImagePrefetcher, didPrefetch url: URL, finishedCount: Int, totalCount: Int)

    /// Called when the last running list is finished and was not cancelled; before its own completion.
    ///
    /// - Parameters:
    ///   - prefetcher: The prefetcher.
    ///   - totalCount: The number of URLs of that list.
    ///   - skippedCount: The number of those without an image.
    func prefetcher(_ prefetcher: WebImagePrefetcher, didFinishWithTotalCount totalCount: Int, skippedCount: Int)
}

extension WebImagePrefetcherDelegate {
    /// Does nothing.
    public func prefetcher(
        _ prefetcher: WebImagePrefetcher,
        didPrefetch url: URL,
        finishedCount: Int,
        totalCount: Int
    ) {}

    /// Does nothing.
    public func prefetcher(
        _ prefetcher: WebImagePrefetcher,
        didFinishWithTotalCount totalCount: Int,
        skippedCount: Int
    ) {}
}
