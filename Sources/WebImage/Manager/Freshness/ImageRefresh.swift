import FoundationEssentials

extension WebImageManager {
    /// Begins a load with ``WebImageOptions/refreshCached``: delivers what is cached, asks the server with the entry's
    /// validators whether there is something newer, and delivers that as a second result.
    ///
    /// The second call comes only when there is something to say: another picture, or why there is none. What the caches do
    /// not have is loaded as without the option, and so is what only one side may be asked for.
    func startRefreshing(
        _ operation: WebImageLoadOperation,
        url: URL,
        options: WebImageOptions,
        context: WebImageContext?,
        progress: (@Sendable (LoadProgress) -> Void)?
    ) {
        guard options.isDisjoint(with: [.fromCacheOnly, .fromLoaderOnly]),
            let originalKey = originalKey(for: url, context: context)
        else { return start(operation, url: url, options: options, context: context, progress: progress) }
        let image = CachedImage(
            manager: self,
            operation: operation,
            url: url,
            originalKey: originalKey,
            resultKey: resultKey(for: originalKey, context: context),
            options: options,
            context: context
        )
        operation.observation?.noteStart(cacheKey: image.resultKey)
        let refresh = ImageRefresh(image: image, progress: progress)
        image.find(madeOf: nil, image.memory) { [self] cached in
            if let cached {
                refresh.start(after: cached)
            } else if operation.isRunning {
                start(operation, url: url, options: options, context: context, progress: progress)
            }
        }
    }
}

/// The part of a load that delivers what is cached and then what is newer.
struct ImageRefresh: Sendable {
    let image: CachedImage
    let progress: (@Sendable (LoadProgress) -> Void)?
    /// Whether a refresh that fails is nobody's business: what was delivered was allowed to serve.
    var isSilent = false
    /// What is known of an original that is not kept.
    var derived: DerivedSource?

    private var manager: WebImageManager { image.manager }
    private var operation: WebImageLoadOperation { image.operation }
    private var options: WebImageOptions { image.options }

    /// Delivers what is cached, and asks for what is newer if that may be asked.
    func start(after cached: WebImageResult) {
        let plan = image.plan(for: .news, options, derived: derived?.content)
        guard manager.mayDownload(image.url), plan.decode.original.fetch?.canStart ?? false else {
            return operation.deliver(.success(cached), isLast: true)
        }
        if isSilent, operation.takesOneResult {
            // Nobody waits for what is newer; the next load has it.
            return endAndRefresh(plan, cached)
        }
        operation.deliver(.success(cached.asInterim), isLast: false)
        begin(plan, after: cached)
    }

    /// Ends the load, and asks for what is newer for those who come later.
    private func endAndRefresh(_ plan: LoadPlan, _ cached: WebImageResult) {
        // Whoever has the picture may wait for this at once.
        manager.refreshes.enter()
        operation.end(.success(cached))
        manager.pipeline.keep(ResultWork(plan: plan), priority: .low) { [self] result in
            if case .failure(let error) = result { noteRenewal(error) }
            guard case .success(.image(let image)) = result else { return manager.refreshes.leave() }
            image.stores.whenDone { manager.refreshes.leave() }
        }
    }

    private func begin(_ plan: LoadPlan, after cached: WebImageResult) {
        // The completion may have cancelled the load.
        guard operation.isRunning else { return }
        operation.subscribe(
            to: ResultWork(plan: plan),
            priority: options.loadPriority,
            progress: progress
        ) { result in
            end(result, plan, after: cached)
        }
    }

    private func end(_ result: WorkResult, _ plan: LoadPlan, after cached: WebImageResult) {
        let delivered = cached.image.metadata.sourceHash
        switch result {
        case .success(.image(let image)) where delivered != 0 && image.image.metadata.sourceHash == delivered:
            operation.observation?.note(.notModified)
            // The same picture, which was loaded because it was gone from disk, or by somebody else in the meantime.
            endQuietly(plan, image.stores)
        case .failure(let error) where error.code == .cacheNotModified:
            operation.observation?.note(.notModified)
            let content = noteRenewal(error)
            guard let content, delivered != 0, content.hash != delivered else { return endQuietly(plan, nil) }
            // The original on disk is what the server has, but what was delivered was made of an older one.
            begin(image.plan(for: .renewal, options), after: cached)
        case .failure(let error):
            if isSilent { return operation.endQuietly() }
            // Not remembered as failed: that would keep the picture that is cached from being loaded, too.
            operation.deliver(.failure(error.with(url: image.url)), isLast: true)
        default:
            // What is newer has no age yet.
            operation.standing = nil
            manager.finish(operation, result, plan, image.url, image.resultKey, options)
        }
    }

    /// Sees to it that what the server says of bytes that are not kept is known; what is known of those it has, if it says that.
    @discardableResult
    private func noteRenewal(_ error: WebImageError) -> SourceContent? {
        guard let content = (error.underlyingError as? UnchangedContent)?.content else { return nil }
        derived?.renew(content, of: image)
        return content
    }

    /// Ends the load after its first result, which was the last.
    private func endQuietly(_ plan: LoadPlan, _ stores: StoreGroup?) {
        manager.noteEnd(of: image.url, options: options, loader: plan.loader ?? manager.imageLoader, error: nil)
        if let stores, options.contains(.waitStoreCache) {
            stores.whenDone { operation.endQuietly() }
        } else {
            operation.endQuietly()
        }
    }
}
