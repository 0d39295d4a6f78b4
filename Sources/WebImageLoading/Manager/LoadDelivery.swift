import FoundationEssentials

/// Subscribes a load to its work in the graph and delivers its values and result.
struct LoadDelivery: Sendable {
    let manager: WebImageManager
    let operation: WebImageLoadOperation
    let plan: LoadPlan
    let options: WebImageOptions
    /// The result of the memory lookup.
    let lookup: MemoryLookup

    private var url: URL { plan.url }
    private var resultKey: String { plan.cacheKey ?? "" }

    /// Starts the load. With a delegate, it queries the caches first, and asks the delegate only on a miss. Each load asks
    /// separately.
    func beginAsking(_ progress: (@Sendable (LoadProgress) -> Void)?) {
        guard manager.delegate != nil, !options.contains(.fromCacheOnly) else { return begin(progress) }
        let load: @Sendable () -> Void = {
            guard operation.isRunning else { return }
            if manager.mayDownload(url) { begin(progress) } else { operation.end(.failure(.downloadRefused(url))) }
        }
        guard !options.contains(.fromLoaderOnly) else { return load() }
        operation.subscribe(
            to: ResultWork(plan: plan.cached),
            priority: options.priority,
            progress: nil,
            values: receiver([])
        ) { result in
            if case .failure(let error) = result, error.isCacheMiss { load() } else { finish(result) }
        }
    }

    func begin(_ progress: (@Sendable (LoadProgress) -> Void)?) {
        var kinds: WorkValue.Kind = plan.decode.isProgressive ? .preview : []
        if plan.terms != nil { kinds.insert(.stale) }
        operation.subscribe(
            to: ResultWork(plan: plan),
            priority: options.priority,
            progress: progress,
            values: receiver(kinds)
        ) { result in
            if operation.isRunning { finish(result) }
        }
    }

    /// Returns the receiver of values of these kinds, and of images of other sizes if they are wanted; nil if no values are.
    private func receiver(_ kinds: WorkValue.Kind) -> WorkValue.Receiver? {
        var kinds = kinds
        if plan.result.value.readsVariants, !operation.takesOneResult { kinds.insert(.variant) }
        return kinds.isEmpty ? nil : WorkValue.Receiver(kinds: kinds) { receive($0) }
    }

    private func receive(_ value: WorkValue) {
        switch value {
        case .preview(let image):
            let preview = WebImageResult(
                image: image,
                cacheType: .none,
                url: url,
                cacheKey: resultKey,
                isFinal: false
            )
            operation.deliver(preview, isPreview: true)
        case .variant(let image, let key):
            operation.deliver(WebImageResult(previewing: image, from: .disk, url: url, key: key, plan), isPreview: true)
        case .stale(let image):
            guard operation.interimHash == nil, operation.isRunning else { return }
            noteCached(image)
            let result = result(of: image)
            guard plan.terms?.asksAlways == false, operation.takesOneResult else {
                return operation.deliver(result.asInterim)
            }
            refreshBehind()
            operation.end(.success(result), leavesWork: true)
        case .partial, .staleStatus: break
        }
    }

    /// Starts a refresh in the background, for later loads.
    private func refreshBehind() {
        let refreshes = manager.refreshes
        // A caller that has the image may wait for the refreshes at once.
        refreshes.enter()
        manager.pipeline.subscribe(to: ResultWork(plan: plan), priority: .low, isCounted: false) { result in
            guard case .success(.image(let image)) = result else { return refreshes.leave() }
            image.stores.whenDone { refreshes.leave() }
        }
    }

    private func result(of image: PipelineImage) -> WebImageResult {
        let result = WebImageResult(image, url: url, key: resultKey)
        guard let status = image.status, plan.terms?.asksAlways == false else { return result }
        return result.with(status, now: manager.clock.wallTime())
    }

    func finish(_ result: WorkResult) {
        switch result {
        case .success(.image(let image)): finish(image)
        case .success: end(WebImageError(.badImageData, "the load returned no image", url: url))
        case .failure(let error): end(error.with(url: url))
        }
    }

    private func finish(_ image: PipelineImage) {
        // Cached images say nothing about the server.
        if image.loaded != nil || image.status?.isConfirmed == true {
            manager.noteEnd(of: url, options: options, loader: plan.loader, error: nil)
            plan.decode.original.fetch.map { manager.noteFound(MissingRequest(url: $0.url, headers: $0.headers)) }
        }
        let end: @Sendable () -> Void
        if isShown(image) {
            if image.loaded != nil { operation.observation?.note(.notModified) }
            end = { operation.endQuietly() }
        } else {
            noteFinal(image)
            let result = result(of: image)
            end = { operation.end(.success(result)) }
        }
        if options.contains(.waitStoreCache) { image.stores.whenDone(end) } else { end() }
    }

    /// Returns whether an image equals the one delivered before. The work may have sent another image than memory held then.
    private func isShown(_ image: PipelineImage) -> Bool {
        guard let shown = operation.interimHash else { return false }
        let hash = image.image.metadata.knownSourceHash ?? image.status?.contentHash ?? 0
        return shown != 0 && hash != 0 ? shown == hash : image.isUnchanged
    }

    private func end(_ error: WebImageError) {
        let terms = plan.terms
        if let terms, operation.interimHash != nil {
            // Not recorded as a failed URL: that would block loads of the cached image, too. If a cache policy allowed the delivered
            // image, a failed refresh is not reported.
            return terms.asksAlways ? operation.end(.failure(error)) : operation.endQuietly()
        }
        if !error.isOfRefresh {
            if terms != nil { manager.note(lookup, forKey: resultKey, operation) }
            manager.totals.noteDisk(.failure(error), wasAsked: plan.asksDisk)
            manager.noteEnd(of: url, options: options, loader: plan.loader, error: error)
        }
        manager.noteMissing(error, plan)
        operation.end(.failure(error))
    }

    // MARK: Counting

    /// Counts the final image of a load.
    private func noteFinal(_ image: PipelineImage) {
        if image.status == nil {
            if plan.terms != nil { manager.note(lookup, forKey: resultKey, operation) }
            manager.totals.noteDisk(.success(.image(image)), wasAsked: plan.asksDisk)
        } else if image.source != .none {
            noteCached(image)
        }
    }

    /// Counts a cached image that is delivered after its cache status was decided, or before it is refreshed.
    func noteCached(_ image: PipelineImage) {
        if image.source == .memory {
            manager.totals.memory.hits.add()
        } else {
            // An unusable image in memory counts as a miss.
            manager.note(lookup.hit == nil ? lookup : .missed(.absent), forKey: resultKey, operation)
        }
        manager.totals.noteDisk(.success(.image(image)), wasAsked: true)
    }
}
