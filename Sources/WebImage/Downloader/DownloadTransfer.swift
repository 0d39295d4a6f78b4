import FoundationEssentials

/// One attempt of a download: sends the request, follows redirects that the transport leaves to it, checks the response,
/// collects the body, and reports to everyone who waits for it. The user's hooks are asked in here.
final class DownloadTransfer: HTTPTransferSink, @unchecked Sendable {
    // Sendable because `life` is a lock; `plan` and what follows are written before a transport has the sink, and
    // afterwards only in the sink's calls, which come one at a time. `leftover` is written before the core is told of the end,
    // and read by the core afterwards.

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
    struct Plan: Sendable {
        let transport: any HTTPTransport
        let config: ConfigSnapshot
        let hooks: DownloadTransferHooks
        /// Where bodies that break off are kept.
        let partials: PartialDownloads?
    }

    enum Stage {
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

    struct Life: ~Copyable {
        var stage = Stage.starting
        /// Counts the requests, redirects among them.
        var requestCount = 0
        var body = BodyBuffer(limit: 0)
        var keeping = BodyKeeping()
    }

    let id: UInt64
    let key: Key
    /// The hooks of the callers' contexts. Keeps those alive whose identities are in the key.
    let hooks: DownloadTransferHooks
    /// Which attempt of the download this is, 1 for the first.
    let attempt: Int
    let core: DownloaderCore
    /// What the attempt before has left.
    let former: PartialDownload?
    let life = Lock(Life())
    private var plan: Plan?
    private(set) var request: DownloadRequest?
    /// When it was sent, in seconds since 1970.
    private var requestTime = 0.0
    var next: DownloadRequest?
    private var chain = RedirectChain()
    private var response: HTTPResponse?
    /// What came back to the present request, and whether the core knows what it says about the host.
    private var outcome = HostReport.Outcome()
    private var hasToldHost = false
    private var expected: Int64?
    /// What still has to be told from the body's first bytes; nil when nothing has.
    var sniffer: PictureSniffer?
    var lastReportedFraction = 0.0
    /// Bytes that there were when they were last left for previews.
    var lastLeftByteCount = 0
    /// What is there of the body, while it may serve.
    var part: PartialDownload?
    /// Bytes of it that the body still has to begin with.
    var overlap = 0
    /// Bytes of it that have become part of the body.
    var resumedByteCount = 0
    /// What this attempt leaves for the next.
    var leftover: PartialDownload?

    init(
        id: UInt64,
        key: Key,
        hooks: DownloadTransferHooks,
        attempt: Int = 1,
        former: PartialDownload? = nil,
        core: DownloaderCore
    ) {
        self.id = id
        self.key = key
        self.hooks = hooks
        self.attempt = attempt
        self.former = former
        self.core = core
    }

    // MARK: Life

    /// Asks the request modifier and sends the request.
    ///
    /// - Parameters:
    ///   - defaults: the downloader's own hooks, for those that the callers' contexts do not have.
    ///   - partials: where bodies that break off are kept.
    func begin(
        _ transport: any HTTPTransport,
        config: ConfigSnapshot,
        headers: HTTPHeaders,
        defaults: DownloadTransferHooks,
        partials: PartialDownloads? = nil
    ) {
        let hooks = hooks.filled(from: defaults)
        let plan = Plan(transport: transport, config: config, hooks: hooks, partials: partials)
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
            resume(request, plan)
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
        case .running(let transfer):
            transfer.cancel()
            keepCancelledBody()
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
        resume(modified, plan)
    }

    /// Sends a request, for the rest of the body if a part is there.
    func send(_ request: DownloadRequest, _ plan: Plan) {
        let config = plan.config.value
        // A modifier, a handler or the server may have chosen the place.
        if let refusal = core.refusal(of: request.url, by: config.sourcePolicy) {
            part?.writer?.close()
            return end(.failure(refusal))
        }
        var transferRequest = HTTPTransferRequest(request, config: config)
        // libcurl's own following knows no handlers, and does not change all methods as it should.
        transferRequest.followsRedirects =
            transferRequest.followsRedirects && request.isPlainGet && plan.hooks.redirectHandler == nil
        do throws(WebImageError) { try chain.bound(&transferRequest) } catch { return end(.failure(error)) }
        let number = life.withLock { life -> Int? in
            if case .over = life.stage { return nil }
            life.requestCount += 1
            life.keeping.note(request, store: plan.partials)
            return life.requestCount
        }
        guard let number else {
            part?.writer?.close()
            return
        }
        if number == 1, plan.hooks.requestModifier != nil, let refusal = core.refusal(of: request.url, by: id) {
            part?.writer?.close()
            return end(.failure(refusal))
        }
        self.request = request
        outcome = HostReport.Outcome()
        hasToldHost = false
        requestTime = core.clock.wallTime()
        beginBody(plan)
        part?.apply(to: &transferRequest)
        if number == 1 {
            core.note(request, of: id)
            showPart(plan)
        }
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
        if case .over = stage { return }
        guard case .failure(let error) = result else { return tell(result, metrics, after: stage) }
        keepFailedBody(error) { [self, result] in tell(result, metrics, after: stage) }
    }

    private func tell(_ result: Result<LoadedImageData, WebImageError>, _ metrics: DownloadMetrics, after stage: Stage)
    {
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
        // From here on, the rest of a body is like the whole.
        guard let response = taken(response, plan) else { return partRefusal }
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
        sniffer = plan.sniffer
        // What a modifier says of the length is not what comes.
        expected = request.method == "HEAD" ? nil : response.expectedByteCount
        bodyBegins(response, plan)
        return nil
    }

    private func bodyBegins(_ response: HTTPResponse, _ plan: Plan) {
        let now = plan.partials == nil ? 0 : core.clock.monotonicNanoseconds()
        let part = resumedByteCount > 0 ? part : nil
        life.withLock { life in
            if let expected { life.body.expect(expected) }
            life.keeping.begin(response, after: part, now: now)
        }
        if plan.partials != nil { core.noteBodyToKeep() }
        if resumedByteCount > 0 {
            core.noteResumption(of: id, byteCount: resumedByteCount)
        } else {
            core.noteBodyBegins(of: id)
        }
        core.report(LoadProgress(receivedByteCount: Int64(resumedByteCount), expectedByteCount: expected), of: id)
    }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
        if !outcome.hasBody, !bytes.isEmpty {
            outcome.hasBody = true
            tellHost()
        }
        var bytes = bytes
        guard overlap == 0 || passOverlap(&bytes) else {
            askAnew()
            return partRefusal
        }
        guard bytes.count > 0 else { return nil }
        let byteCount: Int
        do throws(WebImageError) {
            byteCount = try life.withLock { life throws(WebImageError) in
                try life.body.append(bytes)
                return life.body.count
            }
        } catch {
            return error
        }
        if sniffer != nil, let refusal = sniff() { return refusal }
        if resumedByteCount > 0, let expected, Int64(byteCount) > expected {
            askAnew()
            return partRefusal
        }
        let progress = LoadProgress(receivedByteCount: Int64(byteCount), expectedByteCount: expected)
        let interval = min(max(plan?.config.value.minimumProgressInterval ?? 0, 0), 1)
        if let expected, progress.receivedByteCount < expected {
            guard progress.fraction - lastReportedFraction >= interval else { return nil }
        }
        lastReportedFraction = progress.fraction
        core.report(progress, of: id)
        leavePartialData(interval, byteCount: byteCount)
        return nil
    }

    /// Leaves what has come with the callers who want previews. What is to be decrypted is no picture yet.
    ///
    /// - Parameter interval: the least growth of a body of unknown length, as a part of what there was; that of others has been
    ///   looked at.
    private func leavePartialData(_ interval: Double, byteCount: Int) {
        guard plan?.hooks.decryptor == nil else { return }
        if let expected {
            guard Int64(byteCount) < expected else { return }
        } else {
            guard Double(byteCount - lastLeftByteCount) >= interval * Double(lastLeftByteCount) else { return }
        }
        let previewers = core.previewers(of: id)
        guard !previewers.isEmpty, let data = life.withLock({ $0.body.snapshot() }) else { return }
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
        var metrics = chain.completed(metrics)
        metrics.resumedByteCount = Int64(resumedByteCount)
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
        let byteCount = life.withLock { $0.body.count }
        guard overlap == 0 else {
            return .failure(WebImageError(.networkConnectionLost, "the rest of the body ended before it began"))
        }
        if let expected, Int64(byteCount) != expected {
            let words = "the body has \(byteCount) bytes and not the announced \(expected)"
            // What is too long is of something else.
            if Int64(byteCount) > expected { forgetKeptBody() }
            return .failure(WebImageError(.networkConnectionLost, words))
        }
        guard let data = life.withLock({ $0.body.takeData() }) else {
            return .failure(WebImageError(.badImageData, "the response has no body"))
        }
        if let problem = sniffer?.problem(of: data) { return .failure(problem) }
        if plan?.partials != nil || resumedByteCount > 0 { forgetKeptBody() }
        return .success(LoadedImageData(data: data, response: response, metrics: metrics))
    }

    // MARK: Decrypting

    /// Decrypts on a decode thread: the network thread has others to serve.
    private func decrypt(_ loaded: LoadedImageData, _ decryptor: DownloadDecryptor, metrics: DownloadMetrics) {
        let limit = plan?.config.value.maximumResponseByteCount ?? 0
        let sniffer = plan?.config.value.sniffer
        core.networkDidEnd(id)
        let isWanted = life.withLock { life -> Bool in
            if case .over = life.stage { return false }
            let item = CodingQueue.shared.submit {
                self.end(decryptor.decrypted(loaded, limit: limit, sniffer), metrics: metrics)
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
    fileprivate func decrypted(
        _ loaded: LoadedImageData,
        limit: Int,
        _ sniffer: PictureSniffer?
    ) -> Result<LoadedImageData, WebImageError> {
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
        if let problem = sniffer?.problem(of: loaded.data) { return .failure(problem) }
        return .success(loaded)
    }
}
