public import FoundationEssentials

/// A downloaded and decoded image.
public struct DownloadedImage: Sendable {
    /// The image. Callers that requested the same image of one download receive the same instance.
    public var image: Image
    /// The bytes that it was decoded from.
    public var data: Data
    /// The HTTP response.
    public var response: HTTPResponse?
    /// The metrics of the download.
    public var metrics: DownloadMetrics?
}

extension WebImageDownloader {
    /// Downloads an image and decodes it on a decode thread as a load with this context would. Callers share the transfer, and the
    /// decode if their decode options are equal.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - options: As for `downloadData`, and `decodeFirstFrameOnly`, `preloadAllFrames`, `matchAnimatedImageClass` and
    ///     `scaleDownLargeImages`.
    ///   - context: Provides the callback queue, the coder, all decode options, the header fields, the hooks and the retry policy,
    ///     and the key filter for the scale in a key. Its caches and transformers are ignored.
    ///   - decodeOptions: Replaces the context's.
    ///   - coder: Replaces the context's.
    ///   - progress: Called on a background thread, in order and before `completion`, which waits for it.
    ///   - callbackQueue: The queue of `completion`; by default the context's, which is the main thread by default.
    ///   - completion: Called once; after a cancel with ``WebImageError/Code/cancelled``.
    @discardableResult
    public func downloadImage(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        decodeOptions: ImageDecodeOptions? = nil,
        coder: (any ImageCoder)? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        callbackQueue: CallbackQueue? = nil,
        completion: @escaping @Sendable (Result<DownloadedImage, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        var context = context ?? WebImageContext()
        if let decodeOptions { context.decodeOptions = decodeOptions }
        if let coder { context.imageCoder = coder }
        let policy = config.sourcePolicy
        context.decoding = (context.decoding ?? policy.decoding).within(policy)
        let key = context.cacheKeyFilter?.cacheKey(for: url) ?? url.absoluteString
        var decodeOptions = ImageDecodeOptions(context, options: options, key: key)
        decodeOptions.limits = policy.limits(within: decodeOptions.limits)
        let request = ImageLoadRequest(url, options, context)
        let original = LoadPlan.Original(
            fetch: Boxed(core.plan(request)),
            cache: Self.noCaches,
            cacheKey: nil,
            queriesDisk: false,
            storesDisk: false
        )
        let decode = LoadPlan.Decode(original: Boxed(original), coder: context.coder(), options: decodeOptions)
        let queue = callbackQueue ?? context.callbackQueue ?? .main
        return WebImageDownloadToken(
            DecodeWork(plan: Boxed(decode)),
            url: url,
            priority: request.priority,
            pipeline: pipeline,
            progress: progress
        ) { result in
            let result = result.flatMap { output -> Result<DownloadedImage, WebImageError> in
                guard case .image(let made) = output, let loaded = made.loaded else { return .failure(.noData(url)) }
                return .success(
                    DownloadedImage(
                        image: made.image,
                        data: loaded.data,
                        response: loaded.response,
                        metrics: loaded.metrics
                    )
                )
            }
            queue.async { completion(result) }
        }
    }

    /// Downloads and decodes an image. The parameters are those of the function with a completion. Cancelling the task cancels
    /// this caller's download.
    ///
    /// - Throws: ``WebImageError`` of any code between 1000 and 2199.
    public func downloadImage(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        decodeOptions: ImageDecodeOptions? = nil,
        coder: (any ImageCoder)? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> DownloadedImage {
        try await awaitResult { completion in
            self.downloadImage(
                with: url,
                options: options,
                context: context,
                decodeOptions: decodeOptions,
                coder: coder,
                progress: progress,
                callbackQueue: .inline,
                completion: completion
            )
        }
    }

    /// A placeholder for the caches, which a download does not use.
    private static let noCaches = ImageCachesManager(caches: [])
}
