import FoundationEssentials

/// One list under way: what is to be loaded, how, and who is to be told.
final class PrefetchList: Sendable {
    let urls: [URL]
    let target: WebImagePrefetcher.Target
    let options: WebImageOptions
    let context: WebImageContext?
    let mailbox: CallbackMailbox
    private let state: Lock<State>

    private struct State {
        var progress: PrefetchProgress
        // Both go at the end: a token may be kept for long, and what they hold with it.
        var onProgress: (@Sendable (PrefetchProgress) -> Void)?
        var completion: (@Sendable (PrefetchProgress) -> Void)?
    }

    init(
        urls: [URL],
        target: WebImagePrefetcher.Target,
        options: WebImageOptions,
        context: WebImageContext?,
        queue: CallbackQueue,
        progress: (@Sendable (PrefetchProgress) -> Void)?,
        completion: (@Sendable (PrefetchProgress) -> Void)?
    ) {
        self.urls = urls
        self.target = target
        self.options = options
        // The book is kept on the thread that ends the load; only the user is told on the user's queue.
        var loading = context ?? WebImageContext()
        loading.callbackQueue = .inline
        self.context = loading
        mailbox = CallbackMailbox(queue)
        let start = PrefetchProgress(totalCount: urls.count)
        state = Lock(State(progress: start, onProgress: progress, completion: completion))
    }

    /// The latest reading.
    var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// Notes a reading, and leaves the call of the progress closure in the mailbox.
    func note(_ progress: PrefetchProgress) {
        let onProgress = state.withLock { state in
            state.progress = progress
            return state.onProgress
        }
        if let onProgress { mailbox.append { onProgress(progress) } }
    }

    /// Notes the last reading, and leaves the call of the completion in the mailbox.
    func end(_ progress: PrefetchProgress) {
        let completion = state.withLock { state in
            state.progress = progress
            state.onProgress = nil
            defer { state.completion = nil }
            return state.completion
        }
        if let completion { mailbox.append { completion(progress) } }
    }
}
