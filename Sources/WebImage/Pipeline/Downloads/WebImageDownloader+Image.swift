public import FoundationEssentials

/// A picture that was downloaded and decoded.
public struct DownloadedImage: Sendable {
    /// The picture. Callers that asked for the same of one download get the same one.
    public var image: Image
    /// The bytes it was decoded from.
    public var data: Data
    /// The HTTP response.
    public var response: HTTPResponse?
    /// How long the download took.
    public var metrics: DownloadMetrics?
}

extension WebImageDownloader {
    /// Downloads a picture and decodes it on a decode thread. Callers share the transfer, and the decoding if they want the same of it.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: as for `downloadData`, and `decodeFirstFrameOnly`, `preloadAllFrames`,
    ///     `matchAnimatedImageClass` and `scaleDownLargeImages`.
    ///   - decodeOptions: how this caller's picture is decoded.
    ///   - coder: what decodes.
    ///   - progress: called on a background thread, in order and before `completion`, which waits for it.
    ///   - callbackQueue: where `completion` runs.
    ///   - completion: called once. With ``WebImageError/Code/cancelled`` after a cancel.
    @discardableResult
    public func downloadImage(
        with url: URL,
        options: WebImageOptions = [],
        decodeOptions: ImageDecodeOptions = ImageDecodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (Result<DownloadedImage, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        var decodeOptions = decodeOptions
        if options.contains(.decodeFirstFrameOnly) { decodeOptions.decodeFirstFrameOnly = true }
        if options.contains(.preloadAllFrames) { decodeOptions.preloadsAllFrames = true }
        if options.contains(.matchAnimatedImageClass) { decodeOptions.requiresAnimation = true }
        if options.contains(.scaleDownLargeImages), decodeOptions.scaleDownLimitBytes == 0 {
            decodeOptions.scaleDownLimitBytes = ImageDecodeOptions.defaultScaleDownLimitBytes
        }
        return start(
            ImageLoadRequest(url: url, options: options, priority: options.priority),
            coder: config.sourcePolicy.decoding.coder(insteadOf: coder),
            decodeOptions: decodeOptions,
            progress: progress
        ) { result in
            callbackQueue.async { completion(result) }
        }
    }

    /// Downloads a picture and decodes it on a decode thread. Cancelling the task leaves the download.
    ///
    /// - Throws: ``WebImageError`` of any code between 1000 and 2199.
    public func downloadImage(
        with url: URL,
        options: WebImageOptions = [],
        decodeOptions: ImageDecodeOptions = ImageDecodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> DownloadedImage {
        try await awaitResult { completion in
            self.downloadImage(
                with: url,
                options: options,
                decodeOptions: decodeOptions,
                coder: coder,
                progress: progress,
                callbackQueue: .inline,
                completion: completion
            )
        }
    }

    /// Downloads a picture and decodes it as a load with this context would.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: as for the other forms.
    ///   - context: gives the callback queue, the coder, everything that decodes, the header fields, the hooks and the
    ///     retry policy; the key filter for the scale that a key tells. Caches and transformers have no part in a
    ///     download.
    ///   - progress: called on a background thread, in order and before `completion`, which waits for it.
    ///   - completion: called once on the context's callback queue, by default the main thread. With
    ///     ``WebImageError/Code/cancelled`` after a cancel.
    @discardableResult
    public func downloadImage(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedImage, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        var context = context
        let policy = config.sourcePolicy
        context.decoding = (context.decoding ?? policy.decoding).within(policy)
        let key = context.cacheKeyFilter?.cacheKey(for: url) ?? url.absoluteString
        let queue = context.callbackQueue ?? .main
        return start(
            ImageLoadRequest(url, options, context),
            coder: context.coder(),
            decodeOptions: ImageDecodeOptions(context, options: options, key: key),
            progress: progress
        ) { result in
            queue.async { completion(result) }
        }
    }

    /// Downloads a picture and decodes it as a load with this context would. Cancelling the task leaves the download.
    ///
    /// - Throws: ``WebImageError`` of any code between 1000 and 2199.
    public func downloadImage(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> DownloadedImage {
        var context = context
        context.callbackQueue = .inline
        let awaited = context
        return try await awaitResult { completion in
            self.downloadImage(
                with: url,
                options: options,
                context: awaited,
                progress: progress,
                completion: completion
            )
        }
    }

    /// Joins the decoding of a request's download, or starts it.
    private func start(
        _ request: ImageLoadRequest,
        coder: any ImageCoder,
        decodeOptions: ImageDecodeOptions,
        progress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping @Sendable (Result<DownloadedImage, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        var decodeOptions = decodeOptions
        decodeOptions.limits = config.sourcePolicy.limits(within: decodeOptions.limits)
        let original = LoadPlan.Original(
            fetch: Boxed(core.plan(request)),
            cache: Self.noCaches,
            cacheKey: nil,
            queriesDisk: false,
            storesDisk: false
        )
        let decode = LoadPlan.Decode(original: Boxed(original), coder: coder, options: decodeOptions)
        return WebImageDownloadToken(
            DecodeWork(plan: Boxed(decode)),
            url: request.url,
            priority: request.priority,
            pipeline: pipeline,
            progress: progress
        ) { result in
            completion(
                result.flatMap { output in
                    guard case .image(let made) = output, let loaded = made.loaded else {
                        return .failure(.noData(request.url))
                    }
                    return .success(
                        DownloadedImage(
                            image: made.image,
                            data: loaded.data,
                            response: loaded.response,
                            metrics: loaded.metrics
                        )
                    )
                }
            )
        }
    }

    /// Stands for the caches that have no part in a download.
    private static let noCaches = ImageCachesManager(caches: [])
}
