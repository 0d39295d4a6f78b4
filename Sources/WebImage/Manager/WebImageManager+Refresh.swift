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
        let refresh = ImageRefresh(
            manager: self,
            operation: operation,
            url: url,
            originalKey: originalKey,
            resultKey: resultKey(for: originalKey, context: context),
            options: options,
            context: context,
            progress: progress
        )
        refresh.start()
    }
}

/// One load that delivers what is cached and then what is newer.
private struct ImageRefresh: Sendable {
    let manager: WebImageManager
    let operation: WebImageLoadOperation
    let url: URL
    let originalKey: String
    let resultKey: String
    let options: WebImageOptions
    let context: WebImageContext?
    let progress: (@Sendable (LoadProgress) -> Void)?

    /// Looks for the picture in the caches.
    func start() {
        operation.observation?.noteStart(cacheKey: resultKey)
        let lookup = manager.lookUp(resultKey, of: originalKey, options: options, context: context)
        if let hit = lookup.hit {
            manager.note(lookup, forKey: resultKey, operation)
            return deliver(.fromMemory(hit.image, url: url, key: resultKey))
        }
        let recipe = recipe(for: .picture, options.union(.fromCacheOnly))
        if options.contains(.queryDiskDataSync),
            let image = recipe.imageFromDiskSync(for: operation, manager.trace(of: operation))
        {
            manager.note(lookup, forKey: resultKey, operation)
            manager.totals.disk.hits.add()
            return deliver(WebImageResult(image, url: url, key: resultKey))
        }
        operation.subscribe(to: ResultWork(recipe: recipe), priority: options.loadPriority, progress: nil) { result in
            if case .success(.image(let image)) = result {
                manager.note(lookup, forKey: resultKey, operation)
                manager.totals.noteDisk(result, wasAsked: true)
                deliver(WebImageResult(image, url: url, key: resultKey))
            } else if operation.isRunning {
                manager.start(operation, url: url, options: options, context: context, progress: progress)
            }
        }
    }

    /// Delivers what is cached, and asks for what is newer if that may be asked.
    private func deliver(_ cached: WebImageResult) {
        let recipe = recipe(for: .news, options)
        guard manager.mayDownload(url), recipe.decode.data.load?.canStart ?? false else {
            return operation.deliver(.success(cached), isLast: true)
        }
        operation.deliver(.success(cached.asInterim), isLast: false)
        begin(recipe, after: cached)
    }

    private func begin(_ recipe: LoadRecipe, after cached: WebImageResult) {
        // The completion may have cancelled the load.
        guard operation.isRunning else { return }
        operation.subscribe(
            to: ResultWork(recipe: recipe),
            priority: options.loadPriority,
            progress: progress
        ) { result in
            end(result, recipe, after: cached)
        }
    }

    private func end(_ result: WorkResult, _ recipe: LoadRecipe, after cached: WebImageResult) {
        let delivered = cached.image.metadata.sourceHash
        switch result {
        case .success(.image(let image)) where delivered != 0 && image.image.metadata.sourceHash == delivered:
            operation.observation?.note(.notModified)
            // The same picture, which was loaded because it was gone from disk, or by somebody else in the meantime.
            endQuietly(recipe, image.stores)
        case .failure(let error) where error.code == .cacheNotModified:
            operation.observation?.note(.notModified)
            let content = error.underlyingError as? UnchangedContent
            guard let content, delivered != 0, content.hash != delivered else { return endQuietly(recipe, nil) }
            // The original on disk is what the server has, but what was delivered was made of an older one.
            begin(self.recipe(for: .renewal, options), after: cached)
        case .failure(let error):
            // Not remembered as failed: that would keep the picture that is cached from being loaded, too.
            operation.deliver(.failure(error.with(url: url)), isLast: true)
        default:
            manager.finish(operation, result, recipe, url, resultKey, options)
        }
    }

    /// Ends the load after its first result, which was the last.
    private func endQuietly(_ recipe: LoadRecipe, _ stores: StoreGroup?) {
        manager.noteEnd(of: url, options: options, loader: recipe.loader ?? manager.imageLoader, error: nil)
        if let stores, options.contains(.waitStoreCache) {
            stores.whenDone { operation.endQuietly() }
        } else {
            operation.endQuietly()
        }
    }

    private func recipe(for purpose: LoadPurpose, _ options: WebImageOptions) -> LoadRecipe {
        manager.recipe(
            url: url,
            originalKey: originalKey,
            resultKey: resultKey,
            options: options,
            context: context,
            purpose: purpose
        )
    }
}

extension WebImageResult {
    /// The same, announced as one after which another may come.
    fileprivate var asInterim: WebImageResult {
        WebImageResult(
            image: image,
            data: data,
            cacheType: cacheType,
            url: url,
            cacheKey: cacheKey,
            response: response,
            metrics: metrics,
            isFinal: false
        )
    }
}
