public import FoundationEssentials

extension WebImageDownloader {
    /// Downloads a picture's bytes.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: `handleCookies`, `allowInvalidSSLCertificates`, `lowPriority` and `highPriority` are looked at.
    ///   - context: gives the callback queue, the header fields, the hooks and the retry policy.
    ///   - progress: called on a background thread, in order and before `completion`, which waits for it.
    ///   - callbackQueue: where `completion` runs; by default the context's, which is the main thread by default.
    ///   - completion: called once. With ``WebImageError/Code/cancelled`` after a cancel.
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

    /// Downloads a picture's bytes; the parameters are those of the form with a completion. Cancelling the task leaves the download.
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
    /// What a caller of the downloader's own asks for. It waits for its turn in the downloader only, whatever is being decoded.
    func plan(_ request: ImageLoadRequest) -> LoadPlan.Fetch {
        LoadPlan.Fetch(request, by: self, rights: rights(for: request), isGated: false)
    }
}

extension ImageLoadRequest {
    /// What a load asks a loader for.
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

    /// The same without what loads that share a download may differ in.
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
