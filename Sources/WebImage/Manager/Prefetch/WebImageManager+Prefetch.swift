import FoundationEssentials

/// A load of a prefetcher.
protocol PrefetchLoad: Sendable {
    func cancel()
    func setPriority(_ priority: LoadPriority)
}

extension WebImageLoadOperation: PrefetchLoad {}

extension WebImageManager {
    /// Loads one URL of a list.
    ///
    /// - Parameter completion: called once, on any thread, perhaps before this returns; whether there is no picture.
    func prefetch(
        _ url: URL,
        _ list: PrefetchList,
        _ priority: LoadPriority,
        completion: @escaping @Sendable (_ isSkipped: Bool) -> Void
    ) -> any PrefetchLoad {
        var options = list.options
        if priority == .low { options.insert(.lowPriority) }
        if priority == .high { options.insert(.highPriority) }
        guard list.target == .disk else { return prefetchImage(url, list, options, completion) }
        let resolved = resolve(url, options, list.context)
        // A serializer makes the bytes on disk of the picture, so that has to be decoded.
        let isSerialized = (resolved.context?.cacheSerializer ?? cacheSerializer) != nil
        // How long what is there serves is judged where images are loaded.
        let isImmutable = cachePolicy(for: resolved.context, parts: resolved.parts) == .immutable
        guard !isSerialized, isImmutable else { return prefetchImage(url, list, options, completion) }
        let load = PrefetchDataLoad(
            manager: self,
            url: url,
            options: resolved.options,
            priority: priority,
            account: LoadAccount(resolved, url: url, manager: self),
            completion: completion
        )
        load.start(resolved)
        return load
    }

    private func prefetchImage(
        _ url: URL,
        _ list: PrefetchList,
        _ options: WebImageOptions,
        _ completion: @escaping @Sendable (Bool) -> Void
    ) -> WebImageLoadOperation {
        var context = list.context
        if list.target == .disk { context?.storeCacheType = .disk }
        // A picture from the cache that is being refreshed is there, whatever becomes of the refresh.
        let isThere = Lock(false)
        let operation = loadImage(with: url, options: options, context: context) { result in
            switch result {
            case .success(let result) where !result.isFinal: isThere.withLock { $0 = true }
            case .success: completion(false)
            case .failure: completion(!isThere.withLock { $0 })
            }
        }
        operation.addEndHandler { if isThere.withLock({ $0 }) { completion(false) } }
        return operation
    }
}

/// Brings the bytes of one URL to disk.
final class PrefetchDataLoad: PrefetchLoad {
    private struct State {
        var completion: (@Sendable (Bool) -> Void)?
        var subscription: Pipeline.Subscription?
        var priority: LoadPriority
    }

    private let manager: WebImageManager
    private let url: URL
    private let options: WebImageOptions
    private let account: LoadAccount
    private let state: Lock<State>

    init(
        manager: WebImageManager,
        url: URL,
        options: WebImageOptions,
        priority: LoadPriority,
        account: LoadAccount,
        completion: @escaping @Sendable (_ isSkipped: Bool) -> Void
    ) {
        self.manager = manager
        self.url = url
        self.options = options
        self.account = account
        state = Lock(State(completion: completion, priority: priority))
    }

    /// - Parameter load: the load as the manager's processor wants it.
    func start(_ load: ResolvedLoad) {
        let context = load.context
        if let refusal = manager.refusal(of: url, context) { return skip(refusal) }
        if !options.contains(.retryFailed), manager.isFailed(url) { return skip(.blacklisted(url)) }
        let key = manager.originalKey(for: url, context: context, parts: load.parts)
        let plan = manager.plan(
            url: url,
            originalKey: key,
            resultKey: key,
            options: options,
            context: context
        )
        account.observation?.noteStart(cacheKey: key ?? "")
        // Without a key, or where originals may not be stored, there is nothing to be done.
        guard let key, plan.decode.original.storesDisk else { return skip(.notStorable(url)) }
        let cache = plan.decode.original.cache
        guard !options.contains(.fromLoaderOnly) else { return download(plan) }
        cache.containsImage(forKey: key, in: .disk) { [self] type in
            guard !type.includesDisk else {
                account.end(.delivered(.disk))
                return end(isSkipped: false)
            }
            account.observation?.note(.diskMissed(key: key, .absent))
            download(plan)
        }
    }

    func cancel() {
        let ending = takeEnd()
        if let subscription = ending.subscription { manager.pipeline.unsubscribe(subscription) }
        account.end(.cancelled)
        ending.completion?(true)
    }

    func setPriority(_ priority: LoadPriority) {
        let subscription = state.withLock { state in
            state.priority = priority
            return state.subscription
        }
        if let subscription { manager.pipeline.setPriority(priority, of: subscription) }
    }

    /// How urgent it is now; nil when it has ended.
    private var priority: LoadPriority? { state.withLock { $0.completion == nil ? nil : $0.priority } }

    private func download(_ plan: LoadPlan) {
        guard let priority else { return }
        guard !options.contains(.fromCacheOnly) else { return skip(.notCached(url)) }
        guard manager.mayDownload(url) else { return skip(.downloadRefused(url)) }
        let subscription = manager.pipeline.subscribe(
            // What strangers send is on disk only once it was decoded; of others the header tells enough.
            to: StoreWork(decode: plan.permitted.decode, decodes: !manager.policy.isTrusted),
            priority: priority,
            observation: account.observation
        ) { [self] result in
            if case .failure(let error) = result { return fail(error, plan) }
            manager.noteEnd(of: url, options: options, loader: plan.loader ?? manager.imageLoader, error: nil)
            account.end(.delivered(.none))
            end(isSkipped: false)
        }
        guard let subscription else { return }
        let latest = state.withLock { state -> LoadPriority? in
            guard state.completion != nil else { return nil }
            state.subscription = subscription
            return state.priority
        }
        guard let latest else {
            manager.pipeline.unsubscribe(subscription)
            return
        }
        if latest != priority { manager.pipeline.setPriority(latest, of: subscription) }
    }

    private func fail(_ error: WebImageError, _ plan: LoadPlan) {
        manager.noteEnd(of: url, options: options, loader: plan.loader ?? manager.imageLoader, error: error)
        skip(error.with(url: url))
    }

    private func skip(_ error: WebImageError) {
        account.end(error.code == .cancelled ? .cancelled : .failed(error))
        end(isSkipped: true)
    }

    private func end(isSkipped: Bool) { takeEnd().completion?(isSkipped) }

    /// Takes all of it at once: what is begun later sees that the load is over, and gives it up.
    private func takeEnd() -> State {
        state.withLock { state in
            defer { state = State(priority: state.priority) }
            return state
        }
    }
}

extension WebImageError {
    /// The error of a picture that is to be brought to disk and has no place there.
    static func notStorable(_ url: URL?) -> WebImageError {
        WebImageError(.invalidDownloadOperation, "it has no cache key, or originals are not stored on disk", url: url)
    }
}
