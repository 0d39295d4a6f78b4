import FoundationEssentials

/// One attempt of a download: sends the request, follows redirects (the transport does not), checks the response, collects the
/// body, and reports to the core. The user's hooks are called here.
package final class DownloadTransfer: @unchecked Sendable {
    // Sendable because `life` is a lock; `former`, `request` and the properties after them are written before the transport has the
    // sink, and afterwards only in the sink's calls, which are serial. `leftover` is written before the core is notified of the
    // end, and read by the core afterwards.

    /// The settings of an attempt; the same from its start to its end.
    struct Plan: Sendable {
        let config: ConfigSnapshot
        /// The header fields of all requests of the downloader.
        let headers: HTTPHeaders
        /// The digest of the credential and of the header fields that identify the user.
        let rights: String?
        /// The load's hooks; missing ones are filled from the downloader.
        let hooks: DownloadTransferHooks
        /// The store of interrupted bodies.
        let partials: (any PartialBodyStore)?
        /// The deadline of all attempts together, on the monotonic clock; nil if there is no limit.
        let deadline: UInt64?

        /// Returns the store for a request's body. Nil with cookies: it is unknown which cookies are sent, and so to which user the
        /// image belongs.
        func store(for request: DownloadRequest) -> (any PartialBodyStore)? { request.handlesCookies ? nil : partials }
    }

    enum Stage {
        /// In `begin`, which may have called a modifier or a transport.
        case starting
        /// Waiting for an asynchronous modifier.
        case modifying(Task<Void, Never>)
        case running(any HTTPTransfer)
        case decrypting(WorkItem)
        /// Ended or cancelled.
        case over

        var isDecrypting: Bool {
            if case .decrypting = self { return true }
            return false
        }
    }

    struct Life: ~Copyable {
        var stage = Stage.starting
        /// The number of requests, including redirects.
        var requestCount = 0
        var body = BodyBuffer(limit: 0)
        var keeping = BodyKeeping()
    }

    /// The download.
    let record: DownloadRecord
    /// The number of the attempt, 1 for the first.
    let attempt: Int
    let plan: Plan
    var core: DownloaderCore { record.core }
    /// Receives the bytes so far, for previews.
    let partialData: PartialImageData?
    /// The part that the previous attempt left, until this attempt uses it.
    package var former: PartialDownload?
    let life = Lock(Life())
    var request: DownloadRequest?
    /// The access rights of the request, without a modifier's changes.
    var rights = LoadRights.none
    /// The time at which the request was sent, in seconds since 1970.
    var requestTime = 0.0
    package var next: DownloadRequest?
    var chain = RedirectChain()
    var response: HTTPResponse?
    /// The outcome of the current request, and whether it was reported to the core's host table.
    var outcome = HostReport.Outcome()
    var hasToldHost = false
    var expected: Int64?
    /// Checks the body's first bytes; nil if no check remains.
    var sniffer: ImageSniffer?
    /// The byte count at which the next check runs.
    var nextSniff = 0
    var lastReportedFraction = 0.0
    /// The byte count at the last publication for previews.
    var lastLeftByteCount = 0
    /// True once bytes were published.
    var hasLeftBytes = false
    /// True once the body of a server without ranges was cut off.
    var isCutOff = false
    /// The received part of the body, while it may be of use. Its bytes are released once the body continues after them.
    var part: PartialDownload?
    /// The bytes of the part that the new body still has to repeat.
    var overlap = 0
    /// The number of bytes of the part that were taken into the body.
    var resumedByteCount = 0
    /// The part that this attempt leaves for the next.
    var leftover: PartialDownload?

    init(_ record: DownloadRecord, attempt: Int, former: PartialDownload?, plan: Plan) {
        (self.record, self.plan) = (record, plan)
        partialData = record.partialData
        self.attempt = attempt
        self.former = former
    }

    // MARK: Lifecycle

    /// Calls the request modifier and sends the request.
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

    /// Sends the request that a modifier returned.
    private func take(_ modified: DownloadRequest?) {
        guard let modified else {
            return end(.failure(WebImageError(.invalidDownloadOperation, "the request modifier returned nil")))
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
            // The end of one download starts the next: synchronously, each start would nest within the one before.
            CodingQueue.shared.submit { [core, record, attempt, result] in
                core.finish(record, attempt: attempt, result, metrics: metrics)
            }
        case .modifying, .running, .decrypting:
            core.finish(record, attempt: attempt, result, metrics: metrics)
        }
    }

}
