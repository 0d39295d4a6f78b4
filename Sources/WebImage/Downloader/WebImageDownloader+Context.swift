public import FoundationEssentials

extension WebImageDownloader {
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
        var decodeOptions = ImageDecodeOptions(context, options: options, key: key)
        decodeOptions.limits = config.sourcePolicy.limits(within: decodeOptions.limits)
        let relay = progress.map { ProgressRelay($0) }
        let stage = DownloadDecodeStage(
            url: url,
            coder: context.coder(),
            options: decodeOptions,
            priority: options.priority
        ) { result in
            relay.end(result) { queue.async { completion(result) } }
        }
        return start(Self.request(url, options, context), stage: stage, progress: relay?.receiver) {
            stage.downloadDidFinish($0)
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

    /// Downloads a picture's bytes with the header fields, the hooks and the retry policy of a context.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: as for the other forms.
    ///   - context: gives the callback queue, the header fields, the hooks and the retry policy.
    ///   - progress: called on a background thread, in order and before `completion`, which waits for it.
    ///   - completion: called once on the context's callback queue, by default the main thread. With
    ///     ``WebImageError/Code/cancelled`` after a cancel.
    @discardableResult
    public func downloadData(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        let queue = context.callbackQueue ?? .main
        return start(Self.request(url, options, context), relayingProgress: progress) { result in
            queue.async { completion(result) }
        }
    }

    /// Downloads a picture's bytes with the header fields, the hooks and the retry policy of a context. Cancelling the task
    /// leaves the download.
    ///
    /// - Throws: ``WebImageError`` of any code between 1000 and 2199.
    public func downloadData(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> LoadedImageData {
        try await awaitResult { completion in
            self.start(Self.request(url, options, context), relayingProgress: progress, completion: completion)
        }
    }

    private static func request(
        _ url: URL,
        _ options: WebImageOptions,
        _ context: WebImageContext
    ) -> ImageLoadRequest {
        ImageLoadRequest(
            url: url,
            options: options,
            priority: options.priority,
            additionalHeaders: context.additionalHeaders,
            loadValues: context.loadValues,
            context: context.reducedForLoader
        )
    }
}
