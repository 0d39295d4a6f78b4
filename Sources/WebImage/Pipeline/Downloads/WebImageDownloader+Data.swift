public import FoundationEssentials

extension WebImageDownloader {
    /// Downloads a picture's bytes.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: `handleCookies`, `allowInvalidSSLCertificates`, `lowPriority` and `highPriority` are looked at.
    ///   - progress: called on a background thread, in order and before `completion`, which waits for it.
    ///   - callbackQueue: where `completion` runs.
    ///   - completion: called once. With ``WebImageError/Code/cancelled`` after a cancel.
    @discardableResult
    public func downloadData(
        with url: URL,
        options: WebImageOptions = [],
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        start(ImageLoadRequest(url: url, options: options, priority: options.priority), progress: progress) { result in
            callbackQueue.async { completion(result) }
        }
    }

    /// Downloads a picture's bytes. Cancelling the task leaves the download.
    ///
    /// - Parameters:
    ///   - url: http or https.
    ///   - options: `handleCookies`, `allowInvalidSSLCertificates`, `lowPriority` and `highPriority` are looked at.
    ///   - progress: called on a background thread, in order, never after the return, which waits for it.
    /// - Throws: ``WebImageError`` of any code between 1000 and 2199.
    public func downloadData(
        with url: URL,
        options: WebImageOptions = [],
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> LoadedImageData {
        let request = ImageLoadRequest(url: url, options: options, priority: options.priority)
        return try await awaitResult { self.start(request, progress: progress, completion: $0) }
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
        return start(ImageLoadRequest(url, options, context), progress: progress) { result in
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
        let request = ImageLoadRequest(url, options, context)
        return try await awaitResult { self.start(request, progress: progress, completion: $0) }
    }

    /// Joins the download of a request, or starts it.
    func start(
        _ request: ImageLoadRequest,
        progress: (@Sendable (LoadProgress) -> Void)?,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> WebImageDownloadToken {
        WebImageDownloadToken(
            FetchWork(plan: Boxed(core.plan(request))),
            url: request.url,
            priority: request.priority,
            pipeline: pipeline,
            progress: progress
        ) { result in
            completion(
                result.flatMap { output in
                    guard case .loaded(let loaded, _) = output else { return .failure(.noData(request.url)) }
                    return .success(loaded)
                }
            )
        }
    }
}

extension DownloaderCore {
    /// What a caller of the downloader's own asks for. It waits for its turn in the downloader only, whatever is being decoded.
    func plan(_ request: ImageLoadRequest) -> LoadPlan.Fetch {
        LoadPlan.Fetch(
            url: request.url,
            loader: self,
            options: request.options.intersection(.affectingRequest),
            headers: request.additionalHeaders,
            loadValues: request.loadValues,
            context: request.context,
            rights: rights(for: request),
            isGated: false
        )
    }
}

extension ImageLoadRequest {
    /// What a context asks a downloader for.
    init(_ url: URL, _ options: WebImageOptions, _ context: WebImageContext) {
        self.init(
            url: url,
            options: options,
            priority: options.priority,
            additionalHeaders: context.additionalHeaders,
            loadValues: context.loadValues,
            context: context
        )
    }
}

extension WebImageError {
    static func noData(_ url: URL) -> WebImageError {
        WebImageError(.badImageData, "the loader delivered no data", url: url)
    }
}
