public import FoundationEssentials

extension WebImageManager {
    /// Loads an image.
    ///
    /// An image in memory is delivered before the call returns if the callback queue runs inline (the default queue does on the
    /// main thread).
    ///
    /// - Parameters:
    ///   - url: An http, https, file or data URL.
    ///   - options: The behavior of the load.
    ///   - context: Overrides of the manager's components and defaults.
    ///   - progress: Called while bytes arrive, on a background thread.
    ///   - completion: Called on the context's callback queue, by default the main thread, with the final result or an error.
    ///     Results that are not ``WebImageResult/isFinal`` can precede it, in order and never concurrently: previews, and a
    ///     cached image that is being refreshed. If there is no newer image, that result is the last call.
    /// - Returns: The running load, to cancel it or change its priority.
    @discardableResult
    public func loadImage(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<WebImageResult, WebImageError>) -> Void
    ) -> WebImageLoadOperation {
        begin(url, resolve(url, options, context), progress: progress, receiver: .each(completion))
    }

    /// Loads an image from a string. An invalid URL ends with ``WebImageError/Code/invalidURL``.
    @discardableResult
    public func loadImage(
        with string: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<WebImageResult, WebImageError>) -> Void
    ) -> WebImageLoadOperation {
        let url = URL(string: string)
        return begin(
            url,
            complaint: "invalid URL '\(string.prefix(200))'",
            resolve(url, options, context),
            progress: progress,
            receiver: .each(completion)
        )
    }

    /// Loads an image for a receiver that has to know whether another delivery follows.
    ///
    /// - Parameter receiver: Called for each image, and at the end without a final image; on the context's callback queue.
    package func loadDeliveries(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        to receiver: @escaping @Sendable (WebImageLoadOperation.Delivery) -> Void
    ) -> WebImageLoadOperation {
        begin(url, resolve(url, options, context), progress: progress, receiver: .deliveries(receiver))
    }

    /// Starts a load after the options processor, or ends it at once if it is invalid.
    func begin(
        _ url: URL?,
        complaint: @autoclosure () -> String = "the URL is missing or empty",
        _ load: ResolvedLoad,
        as kind: ManagedLoad.Kind = .image,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        receiver: WebImageLoadOperation.Receiver
    ) -> WebImageLoadOperation {
        let operation = WebImageLoadOperation(
            url: url,
            callbackQueue: load.context.callbackQueue ?? .main,
            pipeline: pipeline,
            totals: totals,
            observation: LoadObservation(load, url: url, pipeline: pipeline),
            running: running,
            receiver: receiver
        )
        guard let url, !url.absoluteString.isEmpty else {
            operation.end(.failure(WebImageError(.invalidURL, complaint(), url: url)))
            return operation
        }
        if let problem = problem(with: url, load) {
            operation.end(.failure(problem))
            return operation
        }
        running.withLock { $0[operation.number] = operation }
        let originalKey = originalKey(for: url, load)
        var started = ManagedLoad(
            manager: self,
            operation: operation,
            url: url,
            load: load,
            originalKey: originalKey,
            resultKey: (kind.isOfImage ? originalKey.map { resultKey(for: $0, load) } : originalKey) ?? "",
            progress: progress
        )
        started.start(as: kind)
        return operation
    }

    /// Returns the error that prevents a load from starting; nil if it may start.
    func problem(with url: URL, _ load: ResolvedLoad) -> WebImageError? {
        if let refusal = refusal(of: url, load.context) { return refusal }
        guard !load.options.contains(.retryFailed), isFailed(url) else { return nil }
        return WebImageError(.blacklisted, "the URL failed before and is not tried again without retryFailed", url: url)
    }

    /// Looks up the image in memory, if the load may.
    func lookUp(_ key: String, of originalKey: String?, _ load: ResolvedLoad) -> MemoryLookup {
        let options = load.options
        guard let originalKey else { return .missed(.noKey) }
        guard !options.contains(.fromLoaderOnly), load.context.queryCacheType?.includesMemory ?? true else {
            return .missed(.notAsked)
        }
        guard let image = cache(for: load).memoryImage(forKey: key) else { return .missed(.absent) }
        let limit =
            image.metadata.scaleDownLimitBytes == 0
            ? 0 : decodeOptions(for: key, load).scaleDownLimitBytes
        guard image.serves(scaleDownLimitBytes: limit) else { return .missed(.otherByteLimit) }
        let refusesDamage =
            image.metadata.isDamaged
            && decodeOptions(for: key, load).refusesDamagedData
        guard !refusesDamage else { return .missed(.absent) }
        let wantsStill =
            options.contains(.decodeFirstFrameOnly) || load.context.decodeOptions?.decodeFirstFrameOnly ?? false
        let mustMove =
            options.contains(.matchAnimatedImageClass) || load.context.decodeOptions?.requiresAnimation ?? false
        guard wantsStill || image.servesAsAnimation(isRequired: mustMove) else { return .missed(.firstFrameOnly) }
        if image.metadata.isTransformed, image.metadata.isAnimated || image.format.isVector {
            let gate = TransformGate(options, decodesFirstFrameOnly: wantsStill)
            guard gate.admits(transformed: image) else { return .missed(.absent) }
        }
        let shown = wantsStill ? image.still : image
        let scale = load.context.explicitScale
        guard scale != nil || image.scale != 1 else { return .found(MemoryHit(cached: image, image: shown)) }
        let scaled = shown.scaled(to: scale ?? ImageScaleFactor.forKey(originalKey))
        return .found(MemoryHit(cached: image, image: scaled))
    }
}

/// An image found in memory: the cached object, and the image to deliver.
struct MemoryHit {
    /// The cached object itself.
    let cached: Image
    /// The image at the load's scale; only its first frame if the load wants that.
    let image: Image
}

/// The result of a memory lookup.
enum MemoryLookup {
    case found(MemoryHit)
    case missed(WebImageLoadEvent.MissReason)

    var hit: MemoryHit? {
        if case .found(let hit) = self { return hit }
        return nil
    }
}

extension WebImageManager {
    /// Loads an image.
    ///
    /// An image in memory is returned without suspending. Cancelling the task cancels the load.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` if the task is cancelled.
    public func image(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Image {
        try await result(with: url, options: options, context: context).image
    }

    /// Loads an image and returns it with its source and details.
    ///
    /// With ``WebImageOptions/refreshCached``, this is the final image: the cached one if the server has no newer one, or if the
    /// refresh failed, which ``WebImageResult/refreshError`` describes.
    ///
    /// ``WebImageOptions/queryDiskDataSync`` and ``WebImageOptions/queryMemoryDataSync`` have no effect here, because they would
    /// block a thread of Swift's concurrency pool.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` if the task is cancelled.
    public func result(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        let load = resolve(url, options, context)
        if let hit = memoryResult(url, load) { return hit }
        let awaited = load.awaited
        return try await awaitResult { completion in
            begin(url, awaited, progress: progress, receiver: .last(completion))
        }
    }

    /// Loads an image and returns its events: progress, then the result. Earlier results are the cached image with
    /// ``WebImageOptions/refreshCached``, and previews with ``WebImageOptions/progressiveLoad``.
    ///
    /// The load starts with the first call of the iterator's `next()`. It is cancelled with the iterating task, or when the
    /// iterator is released. A reader slower than the network sees only the latest progress; results are never lost.
    public func events(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> WebImageEvents {
        WebImageEvents(manager: self, url: url, options: options, context: context)
    }

    private func memoryResult(_ url: URL, _ load: ResolvedLoad) -> WebImageResult? {
        // An observed load takes the slow path, which reports every event.
        guard !load.isObserved, load.options.isDisjoint(with: [.refreshCached, .queryMemoryData]),
            cachePolicy(for: load) == .immutable, problem(with: url, load) == nil,
            let original = originalKey(for: url, load)
        else { return nil }
        let key = resultKey(for: original, load)
        guard let image = lookUp(key, of: original, load).hit?.image else { return nil }
        totals.directHits.add()
        return WebImageResult(image: image, cacheType: .memory, url: url, cacheKey: key)
    }
}

extension WebImageManager {
    /// Returns the original bytes of a URL without decoding them, from the disk cache or else from the loader. Shares the
    /// download with loads of the same image. Bytes from the loader are not stored, because they have not been verified to be an
    /// image. The load's ``CachePolicy`` applies as for images, except that stale data is revalidated first, never in the
    /// background.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` if the task is cancelled,
    ///   ``WebImageError/Code/badImageData`` if a loader generated the image and has no bytes of it.
    public func data(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Data {
        let load = resolve(url, options, context).awaited
        return try await awaitResult { begin(url, load, as: .data, receiver: .data($0)) }
    }
}

extension ManagedLoad {
    func startData() {
        // Stale data is revalidated before it is delivered, as there is only one delivery here.
        var terms = manager.revalidation(url, load)
        if terms?.asksAlways == true { terms = terms?.policy == .immutable ? nil : terms?.byPolicy }
        if let error = knownMissing(terms) { return operation.end(.failure(error)) }
        let plan = plan(terms, asksDelegate: true)
        let work = plan.decode.original.whole
        operation.subscribe(to: work, priority: load.options.priority, progress: nil) { result in
            manager.totals.noteDisk(result, wasAsked: work.queriesDisk)
            switch result {
            case .success(.data(let original)) where !original.isWithoutBytes:
                if original.loaded != nil { manager.noteFound(missingRequest) }
                operation.end(original.entry.data, from: original.source)
            case .success:
                operation.end(.failure(WebImageError(.badImageData, "the load returned no data", url: url)))
            case .failure(let error):
                manager.noteMissing(error.with(url: url), plan)
                operation.end(.failure(error.with(url: url)))
            }
        }
    }

    /// Stores the original bytes on disk, unless they are there.
    func startStoring() {
        let plan = plan(nil)
        let original = plan.decode.original
        // Without a key, or if originals may not be stored, the load fails.
        guard let originalKey, original.storesDisk else { return operation.end(.failure(.notStorable(url))) }
        guard !load.options.contains(.fromLoaderOnly) else { return store(plan) }
        original.cache.containsImage(forKey: originalKey, in: .disk) { type in
            guard !type.includesDisk else { return operation.end(Data(), from: .disk) }
            operation.observation?.note(.diskMissed(key: originalKey, .absent))
            store(plan)
        }
    }

    private func store(_ plan: LoadPlan) {
        guard operation.isRunning else { return }
        guard load.options.contains(.fromCacheOnly) || manager.mayDownload(url) else {
            return operation.end(.failure(.downloadRefused(url)))
        }
        // Untrusted data is stored only after it was decoded; for trusted sources, parsing the header is enough.
        let work = StoreWork(decode: plan.decode, decodes: !manager.policy.isTrusted)
        operation.subscribe(to: work, priority: load.options.priority, progress: nil) { result in
            var error: WebImageError?
            if case .failure(let failure) = result { error = failure.with(url: url) }
            manager.noteEnd(of: url, options: load.options, loader: plan.loader, error: error)
            if let error { operation.end(.failure(error)) } else { operation.end(Data(), from: .none) }
        }
    }
}

extension WebImageError {
    /// The error of an image that cannot be stored on disk.
    static func notStorable(_ url: URL?) -> WebImageError {
        WebImageError(.invalidDownloadOperation, "it has no cache key, or originals are not stored on disk", url: url)
    }
}
