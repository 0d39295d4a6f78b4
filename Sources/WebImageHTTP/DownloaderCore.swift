package import FoundationEssentials

/// The engine behind a ``WebImageDownloader``: one lock around the downloads, and the work that must happen outside it. Outlives
/// the downloader until the last transfer has ended.
///
/// Each load is one download for one receiver. The ``WorkGraph`` coalesces loads that may share a download.
package final class DownloaderCore: Sendable {
    let state: Lock<DownloaderState>
    /// The generation of header fields, credential, policy and hooks: loads share a download only if it is equal.
    package let generation = Counter()
    /// The downloader's transport, wrapped to hedge slow requests.
    let transport: any HTTPTransport
    /// True if the transport enforces source policies.
    let checksAddresses: Bool
    let clock: ClockSource
    let delays: DelaySource
    /// Returns the `Accept` field that is used unless the user sets one.
    private let accept: @Sendable () -> AcceptField
    private let makePartials: PartialBodyStoreMaker
    /// Returns a random number, uniformly distributed over 0...1.
    let random: @Sendable () -> Double

    /// Creates a core. With the default arguments, it accepts images of any format and keeps no interrupted bodies.
    package init(
        config: WebImageDownloaderConfig,
        transport: any HTTPTransport,
        clock: ClockSource = .system,
        delays: DelaySource = .system,
        accept: @escaping @Sendable () -> AcceptField = { AcceptField(value: "image/*,*/*;q=0.1", generation: 0) },
        makePartials: @escaping PartialBodyStoreMaker = { _, _, _ in nil },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.transport = HedgingTransport(transport, delays: delays)
        checksAddresses = transport.checksAddresses
        self.clock = clock
        self.delays = delays
        (self.accept, self.makePartials, self.random) = (accept, makePartials, random)
        let accept = accept()
        let headers: HTTPHeaders = ["User-Agent": UserAgent.standard, "Accept": accept.value]
        var initial = DownloaderState(config: ConfigSnapshot(config), headers: headers)
        initial.acceptGeneration = accept.generation
        initial.partials = makePartials(config, nil, clock)
        initial.updateRights()
        state = Lock(initial)
    }

    // MARK: Settings

    var config: WebImageDownloaderConfig {
        get { state.withLock { $0.config.given } }
        set {
            update { state in
                let former = state.config.given
                let held = former.hostBackOff != newValue.hostBackOff ? state.hosts.reset() : []
                state.use(newValue)
                if former.credential != newValue.credential || former.sourcePolicy != newValue.sourcePolicy {
                    generation.add()
                }
                state.updateRights()
                state.partials = makePartials(newValue, state.partials, clock)
                wake(held, &state)
            }
        }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set { update { $0.isSuspended = newValue } }
    }

    var transferCount: Int { state.withLock { $0.records.count } }

    /// The header fields of all requests.
    var headers: HTTPHeaders {
        let accept = accept()
        return state.withLock { state in
            state.use(accept)
            return state.headers
        }
    }

    func setHeader(_ name: String, _ value: String?) {
        state.withLock { state in
            state.headers[name] = value
            if HTTPHeaders.equal(name, "Accept") { state.acceptGeneration = nil }
            state.headersProblem = state.headers.problem
            state.updateRights()
            generation.add()
        }
    }

    /// The downloader's hooks, for loads whose contexts have none. A change affects only later downloads; they are not coalesced
    /// with earlier ones.
    var hooks: DownloadTransferHooks { state.withLock { $0.hooks } }

    /// - Parameter change: called with the lock held.
    func changeHooks(_ change: (inout DownloadTransferHooks) -> Void) {
        let former = state.withLock { state -> DownloadTransferHooks in
            let former = state.hooks
            change(&state.hooks)
            if state.hooks.identity != former.identity { generation.add() }
            return former
        }
        // Hooks may own any object, so they are released outside the lock.
        withExtendedLifetime(former) {}
    }

    // MARK: Loads

    /// Starts a download. The closures are called on the network thread, or on the thread that ends the download, and must be
    /// quick.
    func start(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping DownloadRecord.Completion
    ) -> any ImageLoaderOperation {
        let refuse = { (error: WebImageError) -> any ImageLoaderOperation in
            completion(.failure(error.with(url: request.url)))
            return FinishedLoadOperation()
        }
        if let problem = DetachedThread.forkProblem ?? Self.problem(of: request) { return refuse(problem) }
        let record = DownloadRecord(request, core: self, progress: progress, completion: completion)
        let accept = accept()
        let answer = locked { state -> Result<([Turn], CallbackMailbox?), WebImageError> in
            if state.isInvalidated {
                return .failure(WebImageError(.invalidDownloadOperation, "the downloader was invalidated"))
            }
            if let problem = state.headersProblem ?? refusal(of: request.url, by: state.config) {
                return .failure(problem)
            }
            state.use(accept)
            state.add(record)
            let turns = takeStarts(&state)
            return .success((turns, record.transfer == nil ? record.leave(.queued(.download)) : nil))
        }
        switch answer {
        case .failure(let error): return refuse(error)
        case .success((let turns, let events)):
            events?.deliver()
            request.trace?.hold(record)
            run(turns)
            return record
        }
    }

    /// Cancels a download that has not ended; its receiver then gets the cancellation error.
    func cancel(_ record: DownloadRecord) {
        let (remains, turns) = locked { state -> (DownloadRecord.Remains?, [Turn]) in
            let remains = state.remove(record, error: .cancelled(record.url), metrics: nil)
            guard remains != nil else { return (nil, []) }
            wake(state.hosts.release(record.id), &state)
            return (remains, takeStarts(&state))
        }
        guard let remains else { return }
        remains.abandon()
        run(turns)
        remains.complete()
        retireIfDone()
    }

    func cancelAll() {
        let (remains, tables) = locked { state in
            defer { _ = takeStarts(&state) }
            return state.removeAll()
        }
        // All transfers are cancelled first: a completion may take its time, and may start other downloads.
        for remains in remains { remains.abandon() }
        for remains in remains { remains.complete() }
        if remains.count > 512 { CallbackQueue.global.async { withExtendedLifetime((remains, tables)) {} } }
        retireIfDone()
    }

    package func invalidate(cancelling: Bool) {
        state.withLock { $0.isInvalidated = true }
        if cancelling { cancelAll() }
        retireIfDone()
    }

    // MARK: Observers

    func addObserver(_ mailbox: CallbackMailbox, _ body: @escaping @Sendable (DownloadEvent) -> Void) {
        state.withLock { $0.observers.append((mailbox, body)) }
    }

    func removeObserver(_ mailbox: CallbackMailbox) {
        // The closure may own any object, so it is released outside the lock.
        let former = state.withLock { state in
            let former = state.observers
            state.observers.removeAll { $0.mailbox === mailbox }
            return former
        }
        withExtendedLifetime(former) {}
    }

    var statistics: DownloadStatistics {
        let (statistics, traces) = state.withLock { state in (state.statistics, state.records.values.map(\.trace)) }
        var result = statistics
        result.callers = traces.reduce(0) { $0 + ($1?.callerCount ?? 1) }
        return result
    }

    /// The rate in bytes per second over all transfers; nil while there is too little data.
    var bytesPerSecond: Double? {
        let now = clock.monotonicNanoseconds()
        return state.withLock { $0.line.rate(at: now) }
    }

    // MARK: Helpers

    /// Changes the state, and notifies observers afterwards.
    func locked<Result>(_ body: (inout DownloaderState) -> Result) -> Result {
        let (result, outbox, pauses) = state.withLock { state -> (Result, [CallbackMailbox], [DownloadRecord.Pause]) in
            let result = body(&state)
            defer { (state.outbox, state.endedPauses) = ([], []) }
            return (result, state.outbox, state.endedPauses)
        }
        withExtendedLifetime(pauses) {}
        for mailbox in outbox { mailbox.deliver() }
        return result
    }

    /// Changes the state, and then starts the downloads that may start.
    func update(_ body: (inout DownloaderState) -> Void) {
        run(
            locked { state in
                body(&state)
                return takeStarts(&state)
            }
        )
    }

    func retireIfDone() {
        let isDone = state.withLock { $0.isInvalidated && $0.records.isEmpty }
        if isDone { transport.invalidate() }
    }
}

/// Loads like its downloader without retaining it: when a downloader is released, the loads of its callers end.
extension DownloaderCore: ImageLoading {
    /// True: the error of a load describes the problem with a URL.
    package func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    package func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders {
        headers.overlaid(with: request.additionalHeaders)
    }

    package func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        if request.readsParts, let load = loadParts(request, progress: progress, completion: completion) { return load }
        // The graph makes no calls after the end, and only one at a time.
        if request.trace != nil { return start(request, progress: progress, completion: completion) }
        let receiver = LoadReceiver(url: request.url, progress: progress, completion: completion)
        return start(request, progress: { receiver.post($0) }, completion: { receiver.finish($0) })
    }

    package func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        switch error.code {
        case .invalidURL, .badImageData: true
        default: CurlErrorMapping.isCertificateFailure(error)
        }
    }
}
