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
        let originalKey = originalKey(for: url, context: context, parts: load.parts)
        let resultKey = originalKey.map { self.resultKey(for: $0, context: context, parts: load.parts) }
        operation.observation?.noteStart(cacheKey: resultKey ?? "")
        let started = ManagedLoad(
            manager: self,
            operation: operation,
            url: url,
            load: load,
            originalKey: originalKey,
            resultKey: resultKey ?? "",
            lookup: lookUp(resultKey, of: originalKey, options: options, context: context),
            progress: progress
        )
        started.start()
        return operation
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

/// An image from memory: as it lies there, and as the load means it.
struct MemoryHit {
    /// The very object in the cache.
    let cached: Image
    /// The same at the load's scale.
    let image: Image
}

/// What a look into memory came to.
enum MemoryLookup {
    case found(MemoryHit)
    case missed(WebImageLoadEvent.MissReason)

    var hit: MemoryHit? {
        if case .found(let hit) = self { return hit }
        return nil
    }
}
