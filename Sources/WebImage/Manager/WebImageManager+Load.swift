public import FoundationEssentials

extension WebImageManager {
    /// Loads an image.
    ///
    /// What lies in memory is delivered before the call returns when the callback queue runs inline (the default queue
    /// does on the main thread).
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - options: how the load behaves.
    ///   - context: what it uses in place of the manager's parts and defaults.
    ///   - progress: called while bytes arrive, on a background thread.
    ///   - completion: called exactly once on the context's callback queue, by default the main thread; with
    ///     ``WebImageOptions/refreshCached`` once more, in order and never at the same time, after a result that is not
    ///     ``WebImageResult/isFinal``, if there is something newer.
    /// - Returns: the running load, to cancel it or change its priority.
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

    /// Loads an image from a string; one that is no URL ends with ``WebImageError/Code/invalidURL``.
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
            complaint: "'\(string.prefix(200))' is no URL",
            resolve(url, options, context),
            progress: progress,
            receiver: .each(completion)
        )
    }

    /// Loads an image for a receiver that has to know whether something follows.
    ///
    /// - Parameter receiver: called for each picture, and at the end if no last picture comes; on the context's callback queue.
    package func loadDeliveries(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        to receiver: @escaping @Sendable (WebImageLoadOperation.Delivery) -> Void
    ) -> WebImageLoadOperation {
        begin(url, resolve(url, options, context), progress: progress, receiver: .deliveries(receiver))
    }

    /// Begins a load after the processor, or ends it at once with what is wrong with it.
    func begin(
        _ url: URL?,
        complaint: @autoclosure () -> String = "the URL is missing or empty",
        _ load: ResolvedLoad,
        progress: (@Sendable (LoadProgress) -> Void)?,
        receiver: WebImageLoadOperation.Receiver
    ) -> WebImageLoadOperation {
        let (options, context) = (load.options, load.context)
        let operation = WebImageLoadOperation(
            url: url,
            callbackQueue: context?.callbackQueue ?? .main,
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
        if let refusal = refusal(of: url, context) {
            operation.end(.failure(refusal))
            return operation
        }
        if !options.contains(.retryFailed), isFailed(url) {
            operation.end(.failure(.blacklisted(url)))
            return operation
        }
        running.withLock { $0.insert(operation) }
        let policy = cachePolicy(for: context, parts: load.parts)
        let judges = policy != .immutable && !options.contains(.fromLoaderOnly)
        if options.contains(.refreshCached), !(judges && options.contains(.fromCacheOnly)) {
            startRefreshing(operation, url: url, options: options, context: context, progress: progress)
        } else if judges {
            startJudging(operation, url: url, load: load, policy: policy, progress: progress)
        } else {
            start(operation, url: url, options: options, context: context, parts: load.parts, progress: progress)
        }
        return operation
    }

    /// Begins an ordinary load: what is cached, else what the loader has.
    func start(
        _ operation: WebImageLoadOperation,
        url: URL,
        options: WebImageOptions,
        context: WebImageContext?,
        progress: (@Sendable (LoadProgress) -> Void)?
    ) {
        start(operation, url: url, options: options, context: context, parts: parts, progress: progress)
    }

    private func start(
        _ operation: WebImageLoadOperation,
        url: URL,
        options: WebImageOptions,
        context: WebImageContext?,
        parts: Parts?,
        progress: (@Sendable (LoadProgress) -> Void)?
    ) {
        let originalKey = originalKey(for: url, context: context, parts: parts)
        let resultKey = originalKey.map { self.resultKey(for: $0, context: context, parts: parts) }
        let cacheKey = resultKey ?? ""
        operation.observation?.noteStart(cacheKey: cacheKey)
        let lookup = lookUp(resultKey, of: originalKey, options: options, context: context)
        note(lookup, forKey: cacheKey, operation)
        if case .found(let hit) = lookup {
            guard options.contains(.queryMemoryData) else {
                return operation.end(.success(.fromMemory(hit.image, url: url, key: cacheKey)))
            }
            let image = CachedImage(
                manager: self,
                operation: operation,
                url: url,
                originalKey: originalKey ?? "",
                resultKey: cacheKey,
                options: options,
                context: context
            )
            return MemoryDataQuery(image).start(with: hit)
        }
        let plan = plan(
            url: url,
            originalKey: originalKey,
            resultKey: resultKey,
            options: options,
            context: context
        )
        if options.contains(.queryDiskDataSync),
            let image = plan.imageFromDiskSync(for: operation, trace(of: operation))
        {
            return finish(operation, .success(.image(image)), plan, url, cacheKey, options)
        }
        if delegate != nil, !options.contains(.fromCacheOnly) {
            return startAsking(
                operation,
                plan: plan,
                url: url,
                options: options,
                context: context,
                progress: progress
            )
        }
        operation.subscribe(
            to: ResultWork(plan: plan),
            priority: options.loadPriority,
            progress: progress,
            values: previews(of: plan, to: operation, url: url, key: cacheKey)
        ) { [self] result in
            finish(operation, result, plan, url, cacheKey, options)
        }
    }

    /// Delivers the previews that a load makes; nil for one that makes none.
    func previews(
        of plan: LoadPlan,
        to operation: WebImageLoadOperation,
        url: URL,
        key: String
    ) -> WorkValue.Receiver? {
        guard plan.decode.isProgressive else { return nil }
        return .previews { operation.deliver(preview: WebImageResult(preview: $0, url: url, key: key)) }
    }

    /// The image in memory, unless the load must not look there.
    func memoryImage(
        forKey key: String?,
        of originalKey: String?,
        options: WebImageOptions,
        context: WebImageContext?
    ) -> Image? { memoryHit(forKey: key, of: originalKey, options: options, context: context)?.image }

    /// The image in memory, unless the load must not look there, as it lies there and as the load means it.
    func memoryHit(
        forKey key: String?,
        of originalKey: String?,
        options: WebImageOptions,
        context: WebImageContext?
    ) -> MemoryHit? { lookUp(key, of: originalKey, options: options, context: context).hit }

    /// Looks for the image in memory, unless the load must not.
    func lookUp(
        _ key: String?,
        of originalKey: String?,
        options: WebImageOptions,
        context: WebImageContext?
    ) -> MemoryLookup {
        guard let key, let originalKey else { return .missed(.noKey) }
        guard !options.contains(.fromLoaderOnly), context?.queryCacheType?.includesMemory ?? true else {
            return .missed(.notAsked)
        }
        guard let image = (context?.imageCache ?? imageCache).memoryImage(forKey: key) else { return .missed(.absent) }
        let limit =
            image.metadata.scaleDownLimitBytes == 0
            ? 0 : decodeOptions(for: key, options: options, context: context).scaleDownLimitBytes
        guard image.serves(scaleDownLimitBytes: limit) else { return .missed(.otherByteLimit) }
        let refusesDamage =
            image.metadata.isDamaged
            && decodeOptions(for: key, options: options, context: context).refusesDamagedData
        guard !refusesDamage else { return .missed(.absent) }
        let wantsStill =
            options.contains(.decodeFirstFrameOnly) || context?.decodeOptions?.decodeFirstFrameOnly ?? false
        let mustMove = options.contains(.matchAnimatedImageClass) || context?.decodeOptions?.requiresAnimation ?? false
        guard wantsStill || image.servesAsAnimation(isRequired: mustMove) else { return .missed(.firstFrameAlone) }
        let shown = wantsStill ? image.still : image
        let scale = context?.explicitScale
        guard scale != nil || image.scale != 1 else { return .found(MemoryHit(cached: image, image: shown)) }
        let scaled = shown.scaled(to: scale ?? ImageScaleFactor.forKey(originalKey))
        return .found(MemoryHit(cached: image, image: scaled))
    }

    /// Ends a load with what the shared work brought.
    func finish(
        _ operation: WebImageLoadOperation,
        _ result: WorkResult,
        _ plan: LoadPlan,
        _ url: URL,
        _ cacheKey: String,
        _ options: WebImageOptions
    ) {
        if !plan.replaces { totals.noteDisk(result, wasAsked: plan.asksDisk) }
        switch result {
        case .success(.image(let image)):
            // What the caches have says nothing of the server.
            if image.loaded != nil {
                noteEnd(of: url, options: options, loader: plan.loader ?? imageLoader, error: nil)
                plan.decode.original.fetch.map { noteFound(MissingPictures.Request($0)) }
            }
            let end: @Sendable () -> Void = {
                operation.end(.success(WebImageResult(image, url: url, key: cacheKey)))
            }
            if options.contains(.waitStoreCache) { image.stores.whenDone(end) } else { end() }
        case .success:
            operation.end(.failure(WebImageError(.badImageData, "the load brought no image", url: url)))
        case .failure(let error):
            noteEnd(of: url, options: options, loader: plan.loader ?? imageLoader, error: error)
            noteMissing(error.with(url: url), plan)
            operation.end(.failure(error.with(url: url)))
        }
    }
}

extension WebImageError {
    /// The error of a load whose URL failed before.
    static func blacklisted(_ url: URL) -> WebImageError {
        WebImageError(.blacklisted, "the URL failed before and is not tried again without retryFailed", url: url)
    }
}

extension WebImageResult {
    init(_ image: PipelineImage, url: URL, key: String) {
        self.init(
            image: image.image,
            data: image.data,
            cacheType: image.source,
            url: url,
            cacheKey: image.cacheKey ?? key,
            response: image.loaded?.response,
            metrics: image.loaded?.metrics
        )
    }

    /// A picture that is still arriving.
    init(preview: Image, url: URL, key: String) {
        self.init(
            image: preview,
            data: nil,
            cacheType: .none,
            url: url,
            cacheKey: key,
            response: nil,
            metrics: nil,
            isFinal: false
        )
    }

    static func fromMemory(_ image: Image, data: Data? = nil, url: URL, key: String) -> WebImageResult {
        WebImageResult(
            image: image,
            data: data,
            cacheType: .memory,
            url: url,
            cacheKey: key,
            response: nil,
            metrics: nil
        )
    }
}
