import FoundationEssentials

/// One attempt of a download: sends the request, follows redirects that the transport leaves to it, checks the response,
/// collects the body, and reports to everyone who waits for it. The user's hooks are asked in here.
final class DownloadTransfer: HTTPTransferSink, @unchecked Sendable {
    // Sendable because `life` is a lock; `plan` and what follows are written before a transport has the sink, and
    // afterwards only in the sink's calls, which come one at a time.

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

    /// What a download is sent and checked with; the same from the start to the end.
    private struct Plan: Sendable {
        let transport: any HTTPTransport
        let config: ConfigSnapshot
        let hooks: DownloadTransferHooks
    }

    private enum Stage {
        /// In `begin`, which may have called out to a modifier or a transport.
        case starting
        /// An asynchronous modifier is asked.
        case modifying(Task<Void, Never>)
        case running(any HTTPTransfer)
        case decrypting(WorkItem)
        /// Ended or given up.
        case over

        var isDecrypting: Bool {
            if case .decrypting = self { return true }
            return false
        }
    }

    private struct Life {
        var stage = Stage.starting
        /// Counts the requests, redirects among them.
        var requestCount = 0
    }

    let id: UInt64
    let key: Key
    /// The hooks of the callers' contexts. Keeps those alive whose identities are in the key.
    let hooks: DownloadTransferHooks
    /// Which attempt of the download this is, 1 for the first.
    let attempt: Int
    private let core: DownloaderCore
    private let life = Lock(Life())
    private var plan: Plan?
    private var request: DownloadRequest?
    /// When it was sent, in seconds since 1970.
    private var requestTime = 0.0
    private var next: DownloadRequest?
    private var chain = RedirectChain()
    private var body = BodyBuffer(limit: 0)
    private var response: HTTPResponse?
    /// What came back to the present request, and whether the core knows what it says about the host.
    private var outcome = HostReport.Outcome()
    private var hasToldHost = false
    private var expected: Int64?
    private var lastReportedFraction = 0.0
    /// Bytes that there were when they were last left for previews.
    private var lastLeftByteCount = 0

    init(id: UInt64, key: Key, hooks: DownloadTransferHooks, attempt: Int = 1, core: DownloaderCore) {
        self.id = id
        self.key = key
        self.hooks = hooks
        self.attempt = attempt
        self.core = core
    }

    // MARK: Life

    /// Asks the request modifier and sends the request.
    ///
    /// - Parameter defaults: the downloader's own hooks, for those that the callers' contexts do not have.
    func begin(
        _ transport: any HTTPTransport,
        config: ConfigSnapshot,
        headers: HTTPHeaders,
        defaults: DownloadTransferHooks
    ) {
        let plan = Plan(transport: transport, config: config, hooks: hooks.filled(from: defaults))
        self.plan = plan
        let request = DownloadRequest(
            url: key.url,
            headers: headers.overlaid(with: key.headers),
            credential: config.value.credential,
            handlesCookies: key.options.contains(.handleCookies),
            verifiesCertificates: !key.options.contains(.allowInvalidSSLCertificates),
            attempt: attempt
        )
        switch plan.hooks.requestModifier?.body {
        case nil:
            send(request, plan)
        case .immediate(let modify):
            take(modify(request), plan)
        case .asynchronous(let modify):
            let task = Task { self.take(await modify(request), plan) }
            let isOver = life.withLock { life -> Bool in
                switch life.stage {
                case .starting: life.stage = .modifying(task)
                case .over: return true
                default: break
                }
                return false
            }
            if isOver { task.cancel() }
        }
    }

    func cancel() {
        let stage = life.withLock { life -> Stage in
            defer { life.stage = .over }
            return life.stage
        }
        switch stage {
        case .modifying(let task): task.cancel()
        case .running(let transfer): transfer.cancel()
        case .decrypting(let item): item.cancel()
        case .starting, .over: break
        }
    }

    /// Sends what a modifier made of the request.
    private func take(_ modified: DownloadRequest?, _ plan: Plan) {
        guard let modified else {
            return end(.failure(WebImageError(.invalidDownloadOperation, "the request modifier said no")))
        }
        if let problem = modified.problem { return end(.failure(problem)) }
        send(modified, plan)
    }

    private func send(_ request: DownloadRequest, _ plan: Plan) {
        let config = plan.config.value
        var transferRequest = HTTPTransferRequest(request, config: config)
        // libcurl's own following knows no handlers, and does not change all methods as it should.
        transferRequest.followsRedirects = request.isPlainGet && plan.hooks.redirectHandler == nil
        do throws(WebImageError) { try chain.bound(&transferRequest) } catch { return end(.failure(error)) }
        let number = life.withLock { life -> Int? in
            if case .over = life.stage { return nil }
            life.requestCount += 1
            return life.requestCount
        }
        guard let number else { return }
        if number == 1, plan.hooks.requestModifier != nil, let refusal = core.refusal(of: request.url, by: id) {
            return end(.failure(refusal))
        }
        self.request = request
        outcome = HostReport.Outcome()
        hasToldHost = false
        requestTime = core.clock.wallTime()
        body = BodyBuffer(limit: config.maximumResponseByteCount)
        lastLeftByteCount = 0
        if number == 1 { core.note(request, of: id) }
        let running = plan.transport.start(transferRequest, sink: self)
        let isOver = life.withLock { life -> Bool in
            if case .over = life.stage { return true }
            // The transport may have gone on to a redirect meanwhile.
            if life.requestCount == number, !life.stage.isDecrypting { life.stage = .running(running) }
            return false
        }
        if isOver { running.cancel() }
    }

    private func end(_ result: Result<LoadedImageData, WebImageError>, metrics: DownloadMetrics = DownloadMetrics()) {
        let stage = life.withLock { life -> Stage in
            defer { life.stage = .over }
            return life.stage
        }
        var result = result
        if case .failure(let error) = result { result = .failure(error.with(url: key.url)) }
        switch stage {
        case .over:
            break
        case .starting:
            // The end of one download starts the next: in here, each would start within the one before it.
            CodingQueue.shared.submit { [core, id, attempt, result] in
                core.finish(id, attempt: attempt, result, metrics: metrics)
            }
        case .modifying, .running, .decrypting:
            core.finish(id, attempt: attempt, result, metrics: metrics)
        }
    }

    // MARK: From the transport

    func didReceive(_ response: HTTPResponse) -> WebImageError? {
        guard let plan, let request else { return nil }
        outcome.response = response
        outcome.redirectCount = response.exchange?.redirects.count ?? 0
        if RedirectRules.isRedirect(response), let answer = redirect(response, request, plan) { return answer }
        let modified = plan.hooks.responseModifier.map { $0.modifiedResponse(for: response) } ?? response
        guard var delivered = modified else {
            core.note(response, of: id)
            return WebImageError(.invalidDownloadResponse, "the response modifier said no", response: response)
        }
        delivered.exchange = exchange(for: response, request)
        self.response = delivered
        core.note(delivered, of: id)
        let check = ResponseCheck(config: plan.config.value, sendsRange: request.headers["Range"] != nil)
        if let problem = check.problem(of: delivered, received: response) { return timed(problem) }
        // What a modifier says of the length is not what comes.
        expected = request.method == "HEAD" ? nil : response.expectedByteCount
        if let expected { body.expect(expected) }
        core.noteBodyBegins(of: id)
        core.report(LoadProgress(receivedByteCount: 0, expectedByteCount: expected), of: id)
        return nil
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
        if !outcome.hasBody, !bytes.isEmpty {
            outcome.hasBody = true
            tellHost()
        }
        do throws(WebImageError) { try body.append(bytes) } catch { return error }
        let progress = LoadProgress(receivedByteCount: Int64(body.count), expectedByteCount: expected)
        let interval = min(max(plan?.config.value.minimumProgressInterval ?? 0, 0), 1)
        if let expected, progress.receivedByteCount < expected {
            guard progress.fraction - lastReportedFraction >= interval else { return nil }
        }
        lastReportedFraction = progress.fraction
        core.report(progress, of: id)
        leavePartialData(interval)
        return nil
    }

    /// Leaves what has come with the callers who want previews. What is to be decrypted is no picture yet.
    ///
    /// - Parameter interval: the least growth of a body of unknown length, as a part of what there was; that of others has been
    ///   looked at.
    private func leavePartialData(_ interval: Double) {
        guard plan?.hooks.decryptor == nil else { return }
        if let expected {
            guard Int64(body.count) < expected else { return }
        } else {
            guard Double(body.count - lastLeftByteCount) >= interval * Double(lastLeftByteCount) else { return }
        }
        let previewers = core.previewers(of: id)
        guard !previewers.isEmpty, let data = body.snapshot() else { return }
        lastLeftByteCount = data.count
        for place in previewers { place.update(data, expectedByteCount: expected) }
    }

    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) {
        outcome.error = error
        outcome.redirectCount = max(outcome.redirectCount, metrics.redirectCount)
        if !hasToldHost { tellHost() }
        if let next, let plan {
            self.next = nil
            chain.note(metrics)
            return send(next, plan)
        }
        let metrics = chain.completed(metrics)
        let result = result(error, metrics: metrics)
        guard case .success(let loaded) = result, let decryptor = plan?.hooks.decryptor else {
            return end(result, metrics: metrics)
        }
        decrypt(loaded, decryptor, metrics: metrics)
    }

    /// Tells the core what is known about the host by now.
    private func tellHost() {
        let isOver = life.withLock { life -> Bool in
            if case .over = life.stage { return true }
            return false
        }
        guard let request, !isOver else { return }
        hasToldHost = true
        core.note(HostReport(request.url, outcome, wallTime: core.clock.wallTime()), of: id)
    }

    /// The problem of a response, with what its server says of when to come again.
    private func timed(_ problem: WebImageError) -> WebImageError {
        guard problem.code == .invalidDownloadStatusCode, let response = problem.response,
            HostReport.asks(response.statusCode)
        else { return problem }
        var problem = problem
        problem.retryAfter = RetryDecider.retryAfter(response, wallTime: core.clock.wallTime())
        return problem
    }

    private func exchange(for response: HTTPResponse, _ request: DownloadRequest) -> HTTPExchange {
        HTTPExchange(
            requestHeaders: request.headers,
            requestTime: requestTime,
            responseTime: core.clock.wallTime(),
            redirects: chain.hops + (response.exchange?.redirects ?? [])
        )
    }

    /// What a redirect is answered with; nil to take it for the answer.
    private func redirect(_ response: HTTPResponse, _ request: DownloadRequest, _ plan: Plan) -> WebImageError? {
        let config = plan.config.value
        let proposed: DownloadRequest
        switch RedirectRules.next(after: response, to: request, count: chain.count, config: config) {
        case .success(let request): proposed = request
        case .failure(let error): return error
        }
        switch plan.hooks.redirectHandler?.decision(for: response, next: proposed) {
        case nil:
            next = proposed
        case .follow(let chosen):
            switch RedirectRules.checked(chosen, next: proposed, after: request, response, config: config) {
            case .success(let request): next = request
            case .failure(let error): return error
            }
        case .stop:
            return nil
        case .fail(let error):
            return error
        }
        chain.note(response)
        // Refuses the redirect's own body; the download goes on at its end.
        return WebImageError(.badRedirect, "the request goes elsewhere", response: response)
    }

    private func result(_ error: WebImageError?, metrics: DownloadMetrics) -> Result<LoadedImageData, WebImageError> {
        if let error { return .failure(error) }
        if let expected, Int64(body.count) != expected {
            let words = "the body has \(body.count) bytes and not the announced \(expected)"
            return .failure(WebImageError(.networkConnectionLost, words))
        }
        guard let data = body.takeData() else {
            return .failure(WebImageError(.badImageData, "the response has no body"))
        }
        return .success(LoadedImageData(data: data, response: response, metrics: metrics))
    }

    // MARK: Decrypting

    /// Decrypts on a decode thread: the network thread has others to serve.
    private func decrypt(_ loaded: LoadedImageData, _ decryptor: DownloadDecryptor, metrics: DownloadMetrics) {
        let limit = plan?.config.value.maximumResponseByteCount ?? 0
        core.networkDidEnd(id)
        let isWanted = life.withLock { life -> Bool in
            if case .over = life.stage { return false }
            let item = CodingQueue.shared.submit {
                self.end(decryptor.decrypted(loaded, limit: limit), metrics: metrics)
            }
            life.stage = .decrypting(item)
            return true
        }
        // The bytes are let go of outside the lock.
        withExtendedLifetime((loaded, isWanted)) {}
    }
}

extension DownloadDecryptor {
    /// What it makes of a download.
    fileprivate func decrypted(_ loaded: LoadedImageData, limit: Int) -> Result<LoadedImageData, WebImageError> {
        var loaded = loaded
        do {
            guard let data = try decrypted(loaded.data, response: loaded.response), !data.isEmpty else {
                return .failure(WebImageError(.badImageData, "the decryptor made nothing of the body"))
            }
            loaded.data = data
        } catch {
            return .failure(WebImageError(.badImageData, "the body cannot be decrypted", underlyingError: error))
        }
        guard loaded.data.count <= limit else {
            return .failure(
                .limitExceeded("maximumResponseByteCount", allowed: limit, required: loaded.data.count)
            )
        }
        return .success(loaded)
    }
}
