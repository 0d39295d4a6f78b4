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
        guard !isSerialized else { return prefetchImage(url, list, options, completion) }
        let load = PrefetchDataLoad(
            manager: self,
            url: url,
            options: resolved.options,
            priority: priority,
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
        var subscription: UInt64?
        var check: WorkItem?
        var priority: LoadPriority
    }

    private let manager: WebImageManager
    private let url: URL
    private let options: WebImageOptions
    private let state: Lock<State>

    init(
        manager: WebImageManager,
        url: URL,
        options: WebImageOptions,
        priority: LoadPriority,
        completion: @escaping @Sendable (_ isSkipped: Bool) -> Void
    ) {
        self.manager = manager
        self.url = url
        self.options = options
        state = Lock(State(completion: completion, priority: priority))
    }

    /// - Parameter load: the load as the manager's processor wants it.
    func start(_ load: ResolvedLoad) {
        let context = load.context
        if !options.contains(.retryFailed), manager.isFailed(url) { return end(isSkipped: true) }
        let key = manager.originalKey(for: url, context: context, parts: load.parts)
        let recipe = manager.recipe(
            url: url,
            originalKey: key,
            resultKey: key,
            options: options,
            context: context
        )
        // Without a key, or where originals may not be stored, there is nothing to be done.
        guard let key, recipe.decode.data.storesDisk else { return end(isSkipped: true) }
        let cache = recipe.decode.data.cache
        guard !options.contains(.fromLoaderOnly) else { return download(recipe) }
        cache.containsImage(forKey: key, in: .disk) { [self] type in
            if type.includesDisk { end(isSkipped: false) } else { download(recipe) }
        }
    }

    func cancel() {
        let (subscription, check) = state.withLock { state in
            defer {
                state.subscription = nil
                state.check = nil
            }
            return (state.subscription, state.check)
        }
        if let subscription { manager.pipeline.unsubscribe(subscription) }
        check?.cancel()
        end(isSkipped: true)
    }

    func setPriority(_ priority: LoadPriority) {
        let (subscription, check) = state.withLock { state in
            state.priority = priority
            return (state.subscription, state.check)
        }
        if let subscription { manager.pipeline.setPriority(priority, of: subscription) }
        check?.setPriority(priority)
    }

    /// How urgent it is now; nil when it has ended.
    private var priority: LoadPriority? { state.withLock { $0.completion == nil ? nil : $0.priority } }

    private func download(_ recipe: LoadRecipe) {
        guard let priority else { return }
        guard !options.contains(.fromCacheOnly), manager.mayDownload(url) else { return end(isSkipped: true) }
        let subscription = manager.pipeline.subscribe(to: recipe.decode.data.fromLoader, priority: priority) {
            [self] result in
            switch result {
            case .success(.data(let original)): check(original, recipe)
            case .success: end(isSkipped: true)
            case .failure(let error): fail(error, recipe)
            }
        }
        guard let subscription else { return }
        let latest = state.withLock { state -> LoadPriority? in
            state.subscription = subscription
            return state.completion == nil ? nil : state.priority
        }
        guard let latest else {
            manager.pipeline.unsubscribe(subscription)
            return
        }
        if latest != priority { manager.pipeline.setPriority(latest, of: subscription) }
    }

    /// Stores the bytes if their header is that of a picture.
    private func check(_ original: OriginalData, _ recipe: LoadRecipe) {
        guard let priority else { return }
        let item = manager.pipeline.decodeQueue.submit(priority: priority) { [self] in
            guard state.withLock({ $0.completion != nil }) else { return }
            do throws(WebImageError) {
                _ = try recipe.decode.coder.properties(of: original.entry.data, limits: recipe.decode.options.limits)
            } catch {
                return fail(error, recipe)
            }
            guard let store = original.store else { return end(isSkipped: true) }
            manager.noteEnd(of: url, options: options, loader: recipe.loader ?? manager.imageLoader, error: nil)
            store.start(nil)
            store.whenDone { [self] in end(isSkipped: false) }
        }
        let latest = state.withLock { state -> LoadPriority? in
            state.check = item
            return state.completion == nil ? nil : state.priority
        }
        if let latest { item.setPriority(latest) } else { item.cancel() }
    }

    private func fail(_ error: WebImageError, _ recipe: LoadRecipe) {
        manager.noteEnd(of: url, options: options, loader: recipe.loader ?? manager.imageLoader, error: error)
        end(isSkipped: true)
    }

    private func end(isSkipped: Bool) {
        let completion = state.withLock { state in
            defer { state = State(priority: state.priority) }
            return state.completion
        }
        completion?(isSkipped)
    }
}
