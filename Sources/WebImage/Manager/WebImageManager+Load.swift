public import FoundationEssentials

extension WebImageManager {
    /// Loads an image.
    ///
    /// What lies in memory is delivered before the call returns when the callback queue runs inline (the default queue
    /// does on the main thread).
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - progress: called while bytes arrive, on a background thread.
    ///   - completion: called exactly once on the context's callback queue, by default the main thread.
    /// - Returns: the running load, to cancel it or change its priority.
    @discardableResult
    public func loadImage(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<WebImageResult, WebImageError>) -> Void
    ) -> WebImageLoadOperation {
        let queue = context?.callbackQueue ?? .main
        let operation = WebImageLoadOperation(
            url: url,
            callbackQueue: queue,
            pipeline: pipeline,
            completion: completion
        )
        guard let url, !url.absoluteString.isEmpty else {
            operation.end(.failure(WebImageError(.invalidURL, "the URL is missing or empty", url: url)))
            return operation
        }
        if !options.contains(.retryFailed), isBlocked(url) {
            operation.end(.failure(.blacklisted(url)))
            return operation
        }
        track(operation)
        if options.contains(.refreshCached) {
            startRefreshing(operation, url: url, options: options, context: context, progress: progress)
        } else {
            start(operation, url: url, options: options, context: context, progress: progress)
        }
        return operation
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
        guard let url = URL(string: string) else {
            let queue = context?.callbackQueue ?? .main
            let operation = WebImageLoadOperation(
                url: nil,
                callbackQueue: queue,
                pipeline: pipeline,
                completion: completion
            )
            operation.end(.failure(WebImageError(.invalidURL, "'\(string.prefix(200))' is no URL")))
            return operation
        }
        return loadImage(
            with: url,
            options: options,
            context: context,
            progress: progress,
            completion: completion
        )
    }

    /// Begins an ordinary load: what is cached, else what the loader has.
    func start(
        _ operation: WebImageLoadOperation,
        url: URL,
        options: WebImageOptions,
        context: WebImageContext?,
        progress: (@Sendable (LoadProgress) -> Void)?
    ) {
        let originalKey = originalKey(for: url, context: context)
        let resultKey = originalKey.map { self.resultKey(for: $0, context: context) }
        let cacheKey = resultKey ?? ""
        if let image = memoryImage(forKey: resultKey, of: originalKey, options: options, context: context) {
            return operation.end(.success(.fromMemory(image, url: url, key: cacheKey)))
        }
        let recipe = recipe(
            url: url,
            originalKey: originalKey,
            resultKey: resultKey,
            options: options,
            context: context
        )
        if options.contains(.queryDiskDataSync), let image = recipe.imageFromDiskSync() {
            return finish(operation, .success(.image(image)), recipe, url, cacheKey, options)
        }
        operation.subscribe(
            to: ResultWork(recipe: recipe),
            priority: options.loadPriority,
            progress: progress
        ) { [self] result in
            finish(operation, result, recipe, url, cacheKey, options)
        }
    }

    /// The image in memory, unless the load must not look there.
    func memoryImage(
        forKey key: String?,
        of originalKey: String?,
        options: WebImageOptions,
        context: WebImageContext?
    ) -> Image? {
        guard let key, let originalKey, !options.contains(.fromLoaderOnly),
            context?.queryCacheType?.includesMemory ?? true
        else {
            return nil
        }
        guard let image = (context?.imageCache ?? imageCache).memoryImage(forKey: key) else { return nil }
        let limit =
            image.metadata.scaleDownLimitBytes == 0
            ? 0 : decodeOptions(for: key, options: options, context: context).scaleDownLimitBytes
        guard image.serves(scaleDownLimitBytes: limit) else { return nil }
        let scale = context?.explicitScale
        guard scale != nil || image.scale != 1 else { return image }
        return image.scaled(to: scale ?? ImageScaleFactor.forKey(originalKey))
    }

    /// Ends a load with what the shared work brought.
    func finish(
        _ operation: WebImageLoadOperation,
        _ result: WorkResult,
        _ recipe: LoadRecipe,
        _ url: URL,
        _ cacheKey: String,
        _ options: WebImageOptions
    ) {
        switch result {
        case .success(.image(let image)):
            noteEnd(of: url, options: options, loader: recipe.loader ?? imageLoader, error: nil)
            let end: @Sendable () -> Void = {
                operation.end(.success(WebImageResult(image, url: url, key: cacheKey)))
            }
            if options.contains(.waitStoreCache) { image.stores.whenDone(end) } else { end() }
        case .success:
            operation.end(.failure(WebImageError(.badImageData, "the load brought no image", url: url)))
        case .failure(let error):
            noteEnd(of: url, options: options, loader: recipe.loader ?? imageLoader, error: error)
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

    static func fromMemory(_ image: Image, url: URL, key: String) -> WebImageResult {
        WebImageResult(
            image: image,
            data: nil,
            cacheType: .memory,
            url: url,
            cacheKey: key,
            response: nil,
            metrics: nil
        )
    }
}
