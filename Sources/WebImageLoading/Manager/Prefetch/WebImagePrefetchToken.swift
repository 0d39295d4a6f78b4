public import FoundationEssentials

/// A list of URLs passed to a ``WebImagePrefetcher``.
public final class WebImagePrefetchToken: WebImageOperation {
    private struct State {
        var progress: PrefetchProgress
        // Both closures are released at the end: a token may be kept for long.
        var onProgress: (@Sendable (PrefetchProgress) -> Void)?
        var completion: (@Sendable (PrefetchProgress) -> Void)?
    }

    /// The URLs of the list.
    public let urls: [URL]
    let target: WebImagePrefetcher.Target
    let options: WebImageOptions
    let context: WebImageContext?
    /// Calls the user's closures.
    let mailbox: CallbackMailbox
    /// The prefetcher, which retains the token while the list runs.
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

    /// The progress of the list.
    public var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// A Boolean value that indicates whether ``cancel()`` was called before the end.
    public var isCancelled: Bool { progress.isCancelled }

    /// Cancels the list: waiting URLs are not started, running loads are cancelled. The completion is called with
    /// ``PrefetchProgress/isCancelled`` set.
    public func cancel() { prefetcher?.cancel([self]) }

    /// Changes the priority of the list's waiting and running loads.
    public func setPriority(_ priority: LoadPriority) { prefetcher?.setPriority(priority, of: self) }

    /// Counts a finished URL.
    func advance(isSkipped: Bool) -> PrefetchProgress {
        state.withLock { state in
            state.progress.finishedCount += 1
            if isSkipped { state.progress.skippedCount += 1 }
            return state.progress
        }
    }

    /// Enqueues a call of the progress closure in the mailbox.
    func tell(_ progress: PrefetchProgress) {
        if let onProgress = state.withLock({ $0.onProgress }) { mailbox.append { onProgress(progress) } }
    }

    /// Enqueues the call of the completion in the mailbox.
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

/// The progress of a list of prefetches.
public struct PrefetchProgress: Sendable, Hashable {
    /// The number of finished URLs, with or without an image.
    public var finishedCount = 0
    /// The number of finished URLs without an image.
    public var skippedCount = 0
    /// The number of URLs in the list.
    public var totalCount: Int
    /// A Boolean value that indicates whether the list was cancelled before its end.
    public var isCancelled = false

    /// A Boolean value that indicates whether every URL is finished.
    package var isComplete: Bool { finishedCount == totalCount }
}
