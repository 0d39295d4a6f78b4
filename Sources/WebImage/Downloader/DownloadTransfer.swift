import FoundationEssentials

/// One download: builds the request, checks the response, collects the body, and reports to everyone who waits for it.
final class DownloadTransfer: HTTPTransferSink, @unchecked Sendable {
    // Sendable because `task` is a lock; `snapshot`, `body` and what follows are written by `begin`, which comes before the
    // transport has the sink, and afterwards only in the sink's calls, which come one at a time.

    struct Key: Hashable {
        var url: URL
        /// Callers with different rights do not share a connection's answer.
        var options: WebImageOptions
        var headers: HTTPHeaders
        /// The hooks of the callers' contexts; nil for none.
        var hooks: LoadHooks?
        /// Changes with the downloader's own header fields, credentials and hooks.
        var generation: UInt64

        /// What a request may share a transfer by.
        init(_ request: ImageLoadRequest, generation: UInt64) {
            url = request.url
            options = request.options.intersection([.handleCookies, .allowInvalidSSLCertificates])
            headers = request.additionalHeaders
            hooks = LoadHooks(request.context)
            self.generation = generation
        }
    }

    private enum Task {
        case none
        case running(any HTTPTransfer)
        case cancelled
    }

    let id: UInt64
    let key: Key
    /// The hooks of the callers' contexts. Keeps those alive whose identities are in the key.
    let hooks: DownloadTransferHooks
    /// Which attempt of the download this is, 1 for the first.
    let attempt: Int
    private let core: DownloaderCore
    private let task = Lock(Task.none)
    private var snapshot: ConfigSnapshot?
    private var sendsRange = false
    private var body = BodyBuffer(limit: 0)
    private var response: HTTPResponse?
    private var expected: Int64?
    private var lastReportedFraction = 0.0

    init(id: UInt64, key: Key, hooks: DownloadTransferHooks, attempt: Int = 1, core: DownloaderCore) {
        self.id = id
        self.key = key
        self.hooks = hooks
        self.attempt = attempt
        self.core = core
    }

    // MARK: Life

    /// Sends the request.
    ///
    /// - Parameter defaults: the downloader's own hooks, for those that the callers' contexts do not have. Not asked yet.
    func begin(
        _ transport: any HTTPTransport,
        config snapshot: ConfigSnapshot,
        headers: HTTPHeaders,
        defaults: DownloadTransferHooks
    ) {
        self.snapshot = snapshot
        let config = snapshot.value
        body = BodyBuffer(limit: config.maximumResponseByteCount)
        let fields = headers.overlaid(with: key.headers)
        sendsRange = fields["Range"] != nil
        let running = transport.start(request(headers: fields, config: config), sink: self)
        let isCancelled = task.withLock { task -> Bool in
            if case .cancelled = task { return true }
            task = .running(running)
            return false
        }
        if isCancelled { running.cancel() }
    }

    func cancel() {
        let running = task.withLock { task -> (any HTTPTransfer)? in
            defer { task = .cancelled }
            if case .running(let running) = task { return running }
            return nil
        }
        running?.cancel()
    }

    private func request(headers: HTTPHeaders, config: WebImageDownloaderConfig) -> HTTPTransferRequest {
        var request = HTTPTransferRequest(url: key.url, headers: headers)
        request.credential = config.credential
        request.handlesCookies = key.options.contains(.handleCookies)
        request.verifiesCertificates = !key.options.contains(.allowInvalidSSLCertificates)
        request.certificateAuthorityFile = config.certificateAuthorityFile
        request.proxy = config.proxy
        request.maximumRedirectCount = config.maximumRedirectCount
        request.allowsInsecureRedirects = config.allowsInsecureRedirects
        request.maximumByteCount = config.maximumResponseByteCount
        request.maximumHeaderByteCount = config.maximumResponseHeaderByteCount
        request.maximumHeaderCount = config.maximumResponseHeaderCount
        request.connectTimeout = config.connectTimeout > 0 ? config.connectTimeout : 10
        let idle = TransferTimer.nanoseconds(config.downloadTimeout)
        request.timer.idle = idle > 0 ? idle : 15_000_000_000
        request.timer.total = TransferTimer.nanoseconds(config.totalTimeout)
        request.timer.minimumBytesPerSecond = max(config.minimumBytesPerSecond, 0)
        return request
    }

    // MARK: From the transport

    func didReceive(_ response: HTTPResponse) -> WebImageError? {
        self.response = response
        core.note(response, of: id)
        if let config = snapshot?.value, let problem = problem(of: response, config: config) { return problem }
        expected = response.expectedByteCount
        if let expected { body.expect(expected) }
        core.report(LoadProgress(receivedByteCount: 0, expectedByteCount: expected), of: id)
        return nil
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
        do throws(WebImageError) { try body.append(bytes) } catch { return error }
        let progress = LoadProgress(receivedByteCount: Int64(body.count), expectedByteCount: expected)
        if let expected, progress.receivedByteCount < expected {
            let interval = min(max(snapshot?.value.minimumProgressInterval ?? 0, 0), 1)
            guard progress.fraction - lastReportedFraction >= interval else { return nil }
        }
        lastReportedFraction = progress.fraction
        core.report(progress, of: id)
        return nil
    }

    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) {
        task.withLock { $0 = .cancelled }
        core.finish(id, attempt: attempt, result(error, metrics: metrics), metrics: metrics)
    }

    private func result(_ error: WebImageError?, metrics: DownloadMetrics) -> Result<LoadedImageData, WebImageError> {
        if let error { return .failure(error.with(url: key.url)) }
        if let expected, Int64(body.count) != expected {
            let words = "the body has \(body.count) bytes and not the announced \(expected)"
            return .failure(WebImageError(.networkConnectionLost, words, url: key.url))
        }
        guard let data = body.takeData() else {
            return .failure(WebImageError(.badImageData, "the response has no body", url: key.url))
        }
        return .success(LoadedImageData(data: data, response: response, metrics: metrics))
    }

    // MARK: Checks

    private func problem(of response: HTTPResponse, config: WebImageDownloaderConfig) -> WebImageError? {
        let status = response.statusCode
        if status == 304 {
            return WebImageError(.cacheNotModified, "the server has nothing newer", statusCode: status)
        }
        if let acceptable = config.acceptableStatusCodes {
            // Part of a picture that nobody asked for is no picture.
            guard acceptable.contains(status), status != 206 || sendsRange else {
                return WebImageError(
                    .invalidDownloadStatusCode,
                    "the server answered with status \(status)",
                    statusCode: status
                )
            }
        }
        if let acceptable = config.acceptableContentTypes, let type = response.mimeType,
            !acceptable.contains(type)
        {
            return WebImageError(.invalidDownloadContentType, "the content type \(type) is not accepted")
        }
        if let length = response.contentLength, length > Int64(config.maximumResponseByteCount) {
            return .limitExceeded(
                "maximumResponseByteCount",
                allowed: config.maximumResponseByteCount,
                required: Int(length)
            )
        }
        return nil
    }
}
