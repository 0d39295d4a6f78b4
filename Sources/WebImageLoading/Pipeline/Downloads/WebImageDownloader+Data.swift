public import FoundationEssentials

extension WebImageDownloader {
    /// Downloads the bytes of an image.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - options: `handleCookies`, `allowInvalidSSLCertificates`, `lowPriority` and `highPriority` have an effect.
    ///   - context: Provides the callback queue, the header fields, the hooks and the retry policy.
    ///   - progress: Called on a background thread, in order and before `completion`, which waits for it.
    ///   - callbackQueue: The queue of `completion`; by default the context's, which is the main thread by default.
    ///   - completion: Called once; after a cancel with ``WebImageError/Code/cancelled``.
    @discardableResult
    public func downloadData(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        callbackQueue: CallbackQueue? = nil,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        let queue = callbackQueue ?? context?.callbackQueue ?? .main
        return start(ImageLoadRequest(url, options, context), progress: progress) { result in
            queue.async { completion(result) }
        }
    }

    /// Downloads the bytes of an image. The parameters are those of the function with a completion. Cancelling the task cancels this
    /// caller's download.
    ///
    /// - Throws: ``WebImageError`` of any code between 1000 and 2199.
    public func downloadData(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> LoadedImageData {
        let request = ImageLoadRequest(url, options, context)
        return try await awaitResult { self.start(request, progress: progress, completion: $0) }
    }

    /// Joins the download of a request, or starts it.
    package func start(
        _ request: ImageLoadRequest,
        progress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        let url = request.url
        return WebImageDownloadToken(
            FetchWork(plan: Boxed(core.plan(request))),
            url: url,
            priority: request.priority,
            pipeline: pipeline,
            progress: progress
        ) { result in
            completion(
                result.flatMap { output in
                    guard case .loaded(let loaded, _) = output else { return .failure(.noData(url)) }
                    return .success(loaded)
                }
            )
        }
    }
}

extension DownloaderCore {
    /// Returns the plan for a direct caller of the downloader. It waits only for its turn in the downloader, regardless of
    /// back-pressure from decoding.
    func plan(_ request: ImageLoadRequest) -> LoadPlan.Fetch {
        LoadPlan.Fetch(request, by: self, rights: rights(for: request), isGated: false, wantsBytes: true)
    }
}

extension ImageLoadRequest {
    /// Creates a load's request to a loader.
    init(_ url: URL, _ options: WebImageOptions, _ context: WebImageContext?) {
        self.init(
            url: url,
            options: options,
            priority: options.priority,
            additionalHeaders: context?.additionalHeaders ?? HTTPHeaders(),
            loadValues: context?.loadValues ?? OptionValues(),
            context: context
        )
    }

    /// The request without everything in which loads that share a download may differ.
    var reduced: ImageLoadRequest {
        var copy = self
        copy.options.formIntersection(.affectingRequest)
        copy.context = context?.reducedForLoader
        return copy
    }
}

extension WebImageError {
    static func noData(_ url: URL) -> WebImageError {
        WebImageError(.badImageData, "the loader delivered no data", url: url)
    }
}
