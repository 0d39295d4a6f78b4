import FoundationEssentials

/// One attempt of a download: sends the request, follows redirects that the transport leaves to it, checks the response,
/// collects the body, and reports to everyone who waits for it. The user's hooks are asked in here.
package final class DownloadTransfer: @unchecked Sendable {
    // Sendable because `life` is a lock; `former`, `request` and what follows are written before a transport has the sink, and
    // afterwards only in the sink's calls, which come one at a time. `leftover` is written before the core is told of the end,
    // and read by the core afterwards.

    /// What a download is sent and checked with; the same from the start to the end.
    struct Plan: Sendable {
        let config: ConfigSnapshot
        /// The fields of all requests of the downloader.
        let headers: HTTPHeaders
        /// The digest of what in them says who asks, and of the credential.
        let rights: String?
        /// Those of the load, and the downloader's own in place of those that it does not have.
        let hooks: DownloadTransferHooks
        /// Where bodies that break off are kept.
        let partials: (any PartialBodyStore)?
        /// When the download must be over, all attempts together, on the monotonic clock; nil without such a bound.
        let deadline: UInt64?

        /// Where the body of a request is kept. Whose cookies are sent is not known, so whose picture it is is not either.
        func store(for request: DownloadRequest) -> (any PartialBodyStore)? { request.handlesCookies ? nil : partials }
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

    /// The download.
    let record: DownloadRecord
    /// Which attempt of the download this is, 1 for the first.
    let attempt: Int
    let plan: Plan
    var core: DownloaderCore { record.core }
    /// Where what has come so far is left, for previews.
    let partialData: PartialImageData?
    /// What the attempt before has left, until this one looks at it.
    package var former: PartialDownload?
    let life = Lock(Life())
    var request: DownloadRequest?
    /// With whose rights, a modifier left out.
    var rights = LoadRights.none
    /// When it was sent, in seconds since 1970.
    var requestTime = 0.0
    package var next: DownloadRequest?
    var chain = RedirectChain()
    var response: HTTPResponse?
    /// What came back to the present request, and whether the core knows what it says about the host.
    var outcome = HostReport.Outcome()
    var hasToldHost = false
    var expected: Int64?
    /// What still has to be told from the body's first bytes; nil when nothing has.
    var sniffer: PictureSniffer?
    /// The bytes there must be before it looks again.
    var nextSniff = 0
    var lastReportedFraction = 0.0
    /// Bytes that there were when they were last left for previews.
    var lastLeftByteCount = 0
    /// Whether any were left.
    var hasLeftBytes = false
    /// What is there of the body, while it may serve. Its bytes are gone from here once the body goes on after them.
    var part: PartialDownload?
    /// Bytes of it that the body still has to begin with.
    var overlap = 0
    /// Bytes of it that have become part of the body.
    var resumedByteCount = 0
    /// What this attempt leaves for the next.
    var leftover: PartialDownload?

    init(_ record: DownloadRecord, attempt: Int, former: PartialDownload?, plan: Plan) {
        (self.record, self.plan) = (record, plan)
        partialData = record.partialData
        self.attempt = attempt
        self.former = former
    }

    // MARK: Life

    /// Asks the request modifier and sends the request.
    func begin() {
        let request = DownloadRequest(
            url: record.url,
            headers: plan.headers.overlaid(with: record.headers),
            credential: plan.config.credential,
            handlesCookies: record.options.contains(.handleCookies),
            verifiesCertificates: !record.options.contains(.allowInvalidSSLCertificates),
            attempt: attempt
        )
        let hasOwnFields = !record.headers.fields.isEmpty
        let digest = hasOwnFields ? LoadRights.digest(of: request.headers, request.credential) : plan.rights
        rights = LoadRights(digest: digest, isKnown: true)
        switch plan.hooks.requestModifier?.body {
        case nil:
            resume(request)
        case .immediate(let modify):
            take(modify(request))
        case .asynchronous(let modify):
            let task = Task { self.take(await modify(request)) }
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
        case .decrypting(let item):
            item.cancel()
            return
        case .over: return
        case .starting: break
        }
        keepCancelledBody()
    }

    /// Sends what a modifier made of the request.
    private func take(_ modified: DownloadRequest?) {
        guard let modified else {
            return end(.failure(WebImageError(.invalidDownloadOperation, "the request modifier said no")))
        }
        if let problem = modified.problem { return end(.failure(problem)) }
        resume(modified)
    }

    func end(_ result: Result<LoadedImageData, WebImageError>, metrics: DownloadMetrics = DownloadMetrics()) {
        let stage = life.withLock { life -> Stage in
            defer { life.stage = .over }
            return life.stage
        }
        var result = result
        if case .failure(let error) = result { result = .failure(error.with(url: record.url)) }
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
            CodingQueue.shared.submit { [core, record, attempt, result] in
                core.finish(record, attempt: attempt, result, metrics: metrics)
            }
        case .modifying, .running, .decrypting:
            core.finish(record, attempt: attempt, result, metrics: metrics)
        }
    }

}
