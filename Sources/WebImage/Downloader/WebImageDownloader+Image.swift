public import FoundationEssentials

extension WebImageDownloader {
    /// Downloads a picture and decodes it on a decode thread. Callers share the transfer, each with decode options of its own.
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
        decodeOptions.limits = config.sourcePolicy.limits(within: decodeOptions.limits)
        let relay = progress.map { ProgressRelay($0) }
        let stage = DownloadDecodeStage(
            url: url,
            coder: config.sourcePolicy.decoding.coder(insteadOf: coder),
            options: decodeOptions,
            priority: options.priority
        ) { result in
            relay.end(result) { callbackQueue.async { completion(result) } }
        }
        return start(
            ImageLoadRequest(url: url, options: options, priority: options.priority),
            stage: stage,
            progress: relay?.receiver
        ) { stage.downloadDidFinish($0) }
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
}
