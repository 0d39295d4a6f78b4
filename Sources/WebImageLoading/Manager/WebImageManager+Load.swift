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
    ///   - completion: Called exactly once on the context's callback queue, by default the main thread. With
    ///     ``WebImageOptions/refreshCached``, a result that is not ``WebImageResult/isFinal`` is followed by one more call if
    ///     there is a newer image, in order and never concurrently.
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

    /// Returns the error that prevents a load from starting; nil if it may start.
    func problem(with url: URL, _ load: ResolvedLoad) -> WebImageError? {
        if let refusal = refusal(of: url, load.context) { return refusal }
        guard !load.options.contains(.retryFailed), isFailed(url) else { return nil }
        return WebImageError(.blacklisted, "the URL failed before and is not tried again without retryFailed", url: url)
    }

    /// Looks up the image in memory, if the load may.
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
        guard wantsStill || image.servesAsAnimation(isRequired: mustMove) else { return .missed(.firstFrameOnly) }
        let shown = wantsStill ? image.still : image
        let scale = context?.explicitScale
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
