public import FoundationEssentials

/// A list given to a ``WebImagePrefetcher``.
public final class WebImagePrefetchToken: WebImageOperation {
    private struct State {
        var progress: PrefetchProgress
        // Both go at the end: a token may be kept for long, and what they hold with it.
        var onProgress: (@Sendable (PrefetchProgress) -> Void)?
        var completion: (@Sendable (PrefetchProgress) -> Void)?
    }

    /// The list.
    public let urls: [URL]
    let target: WebImagePrefetcher.Target
    let options: WebImageOptions
    let context: WebImageContext?
    /// Where the user is called.
    let mailbox: CallbackMailbox
    /// Holds the token while the list is under way.
    weak let prefetcher: WebImagePrefetcher?
    private let state: Lock<State>

    init(
        _ urls: [URL],
        target: WebImagePrefetcher.Target,
        options: WebImageOptions,
        context: WebImageContext?,
        queue: CallbackQueue,
        prefetcher: WebImagePrefetcher,
        progress: (@Sendable (PrefetchProgress) -> Void)?,
        completion: (@Sendable (PrefetchProgress) -> Void)?
    ) {
        self.urls = urls
        self.target = target
        self.options = options
        self.context = context
        self.prefetcher = prefetcher
        mailbox = CallbackMailbox(queue)
        let start = PrefetchProgress(totalCount: urls.count)
        state = Lock(State(progress: start, onProgress: progress, completion: completion))
    }

    /// How far the list is.
    public var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool { progress.isCancelled }

    /// Gives up what is not through: URLs that wait are not begun, loads that run are cancelled. The completion is called
    /// with ``PrefetchProgress/isCancelled`` set.
    public func cancel() { prefetcher?.cancel([self]) }

    /// Makes the list more or less urgent: what waits, and what runs.
    public func setPriority(_ priority: LoadPriority) { prefetcher?.setPriority(priority, of: self) }

    /// Counts a URL that is through.
    func advance(isSkipped: Bool) -> PrefetchProgress {
        state.withLock { state in
            state.progress.finishedCount += 1
            if isSkipped { state.progress.skippedCount += 1 }
            return state.progress
        }
    }

    /// Leaves the call of the progress closure in the mailbox.
    func tell(_ progress: PrefetchProgress) {
        if let onProgress = state.withLock({ $0.onProgress }) { mailbox.append { onProgress(progress) } }
    }

    /// Leaves the call of the completion in the mailbox.
    func end(isCancelled: Bool = false) {
        let (completion, progress) = state.withLock { state in
            var progress = state.progress
            progress.isCancelled = isCancelled
            defer { state = State(progress: progress) }
            return (state.completion, progress)
        }
        if let completion { mailbox.append { completion(progress) } }
    }
}

/// How far a list of prefetches is.
public struct PrefetchProgress: Sendable, Hashable {
    /// URLs that are through, whether there is a picture now or not.
    public var finishedCount = 0
    /// URLs among them that brought none.
    public var skippedCount = 0
    /// URLs of the list.
    public var totalCount: Int
    /// Whether the list was cancelled before its end.
    public var isCancelled = false

    /// Whether every URL is through.
    public var isComplete: Bool { finishedCount == totalCount }
}
