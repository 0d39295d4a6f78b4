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
        as kind: ManagedLoad.Kind = .image,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        receiver: WebImageLoadOperation.Receiver
    ) -> WebImageLoadOperation {
        let operation = WebImageLoadOperation(
            url: url,
            callbackQueue: load.context?.callbackQueue ?? .main,
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
            resultKey: (kind == .image ? originalKey.map { resultKey(for: $0, load) } : originalKey) ?? "",
            progress: progress
        )
        started.start(as: kind)
        return operation
    }

    /// Why a load does not begin; nil where it does.
    func problem(with url: URL, _ load: ResolvedLoad) -> WebImageError? {
        if let refusal = refusal(of: url, load.context) { return refusal }
        guard !load.options.contains(.retryFailed), isFailed(url) else { return nil }
        return WebImageError(.blacklisted, "the URL failed before and is not tried again without retryFailed", url: url)
    }

    /// Looks for the image in memory, unless the load must not.
    func lookUp(_ key: String, of originalKey: String?, _ load: ResolvedLoad) -> MemoryLookup {
        let (options, context) = (load.options, load.context)
        guard let originalKey else { return .missed(.noKey) }
        guard !options.contains(.fromLoaderOnly), context?.queryCacheType?.includesMemory ?? true else {
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
