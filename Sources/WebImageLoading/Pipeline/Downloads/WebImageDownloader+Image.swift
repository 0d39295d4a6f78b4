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
    /// Downloads a picture and decodes it on a decode thread as a load with this context would. Callers share the transfer, and the
    /// decoding if they want the same of it.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: as for `downloadData`, and `decodeFirstFrameOnly`, `preloadAllFrames`,
    ///     `matchAnimatedImageClass` and `scaleDownLargeImages`.
    ///   - context: gives the callback queue, the coder, everything that decodes, the header fields, the hooks and the
    ///     retry policy; the key filter for the scale that a key tells. Caches and transformers have no part in a
    ///     download.
    ///   - decodeOptions: in place of the context's.
    ///   - coder: what decodes, in place of the context's.
    ///   - progress: called on a background thread, in order and before `completion`, which waits for it.
    ///   - callbackQueue: where `completion` runs; by default the context's, which is the main thread by default.
    ///   - completion: called once. With ``WebImageError/Code/cancelled`` after a cancel.
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

    /// Downloads a picture and decodes it; the parameters are those of the form with a completion. Cancelling the task leaves the
    /// download.
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

    /// Stands for the caches that have no part in a download.
    private static let noCaches = ImageCachesManager(caches: [])
}
