public import FoundationEssentials

/// Loads pictures into the caches before they are asked for.
///
/// A few at a time, in the order of the list, urgent lists first. A view that asks for a picture which is being prefetched
/// joins that load and makes it urgent. Lists are independent of each other. Safe to use from any thread.
public final class WebImagePrefetcher: Sendable {
    /// How far a picture is brought.
    public enum Target: Sendable, Hashable {
        /// It is decoded and stored as the context says, by default in memory and on disk.
        case memory
        /// Its bytes are stored on disk. Only their header is read, to see that they are a picture; under a policy other than
        /// ``SourcePolicy/trusted`` they are decoded for that.
        case disk
    }

    /// The prefetcher on the shared cache and the shared loaders.
    public static let shared = WebImagePrefetcher()

    /// What loads the pictures.
    public let manager: WebImageManager
    let state = Lock(State())
    let queue: WorkQueue
    static let queue = WorkQueue(name: "webimage.prefetch", width: 1)

    /// - Parameter manager: by default one of its own on the shared cache and loaders: it shares downloads with the
    ///   shared manager, but not the list of URLs that failed.
    public convenience init(manager: WebImageManager? = nil) {
        self.init(manager: manager ?? WebImageManager(), queue: Self.queue)
    }

    /// - Parameter queue: where loads are begun, one after the other.
    init(manager: WebImageManager, queue: WorkQueue) {
        self.manager = manager
        self.queue = queue
    }

    // Nobody can resume the lists of a suspended prefetcher any more.
    deinit { cancelPrefetching() }

    /// At most this many URLs are loaded at once, over all lists; 3 by default, below 1 counts as 1. May be changed at any time.
    public var maxConcurrentPrefetchCount: Int {
        get { state.withLock { $0.width } }
        set { change { $0.width = newValue } }
    }

    /// While set, no further URL is begun; false by default. Releasing a suspended prefetcher cancels its lists.
    public var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set { change { $0.isSuspended = newValue } }
    }

    /// Of lists that say nothing else; ``WebImageOptions/lowPriority`` by default.
    public var options: WebImageOptions {
        get { state.withLock { $0.options } }
        set { change { $0.options = newValue } }
    }

    /// Of lists that have none of their own; nil by default.
    public var context: WebImageContext? {
        get { state.withLock { $0.context } }
        set { change { $0.context = newValue } }
    }

    /// Where delegate and closures are called, unless a context says otherwise; the main thread by default.
    public var callbackQueue: CallbackQueue {
        get { state.withLock { $0.callbackQueue } }
        set { change { $0.callbackQueue = newValue } }
    }

    /// Hears of all lists; nil by default, and held weakly.
    public var delegate: (any WebImagePrefetcherDelegate)? {
        get { state.withLock { $0.delegate } }
        set { change { $0.delegate = newValue } }
    }

    /// URLs that are being loaded.
    public var runningCount: Int { state.withLock { $0.runningCount } }
    /// URLs that wait.
    public var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Loads a list of URLs. A URL that is there twice counts twice, and is downloaded once.
    ///
    /// - Parameters:
    ///   - urls: what to load, in this order.
    ///   - target: how far each picture is brought.
    ///   - options: the prefetcher's by default.
    ///   - context: the prefetcher's by default.
    ///   - priority: what the options say by default.
    ///   - completion: called once, when all are through or the list was cancelled; for an empty list before the call
    ///     returns.
    /// - Returns: the list, to cancel it, to make it more urgent, and to see how far it is.
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

    /// The same, and calls `progress` whenever a URL is through.
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

    /// Loads a list of URLs and says how that went. Cancelling the task cancels the list.
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

/// Hears how far a ``WebImagePrefetcher`` is, over all its lists. Called on the callback queue of the list concerned.
public protocol WebImagePrefetcherDelegate: AnyObject, Sendable {
    /// A URL is through, whether it brought a picture or not; before the list's own progress is told.
    ///
    /// - Parameters:
    ///   - prefetcher: who reports.
    ///   - url: the URL that is through.
    ///   - finishedCount: URLs that are through, of all lists under way.
    ///   - totalCount: URLs of all lists under way.
    func prefetcher(_ prefetcher: WebImagePrefetcher, didPrefetch url: URL, finishedCount: Int, totalCount: Int)

    /// The last list under way is through, and was not cancelled; before its own completion is called.
    ///
    /// - Parameters:
    ///   - prefetcher: who reports.
    ///   - totalCount: URLs of that list.
    ///   - skippedCount: those that brought no picture.
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
