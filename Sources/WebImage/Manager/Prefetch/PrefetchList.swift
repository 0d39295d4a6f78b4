import FoundationEssentials

/// One list under way: what is to be loaded, how, and who is to be told.
final class PrefetchList: Sendable {
    let urls: [URL]
    let target: WebImagePrefetcher.Target
    let options: WebImageOptions
    let context: WebImageContext?
    let mailbox: CallbackMailbox
    private let onProgress: (@Sendable (PrefetchProgress) -> Void)?
    private let state: Lock<State>

    private struct State {
        var progress: PrefetchProgress
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
        onProgress = progress
        state = Lock(State(progress: PrefetchProgress(totalCount: urls.count), completion: completion))
    }

    /// The latest reading.
    var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// Notes a reading, and leaves the call of the progress closure in the mailbox.
    func note(_ progress: PrefetchProgress) {
        state.withLock { $0.progress = progress }
        if let onProgress { mailbox.append { onProgress(progress) } }
    }

    /// Notes the last reading, and leaves the call of the completion in the mailbox.
    func end(_ progress: PrefetchProgress) {
        let completion = state.withLock { state in
            state.progress = progress
            defer { state.completion = nil }
            return state.completion
        }
        if let completion { mailbox.append { completion(progress) } }
    }
}
