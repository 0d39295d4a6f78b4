import FoundationEssentials

/// What is behind a ``WebImageDownloader``: one lock around the coordinator and the transfers, and what must be done outside
/// it. Outlives the downloader until the last transfer has ended.
final class DownloaderCore: Sendable {
    let state: Lock<DownloaderState>
    /// The downloader's transport, with second requests for those that are slow.
    let transport: any HTTPTransport
    /// Whether the transport is one that a policy can depend on.
    let checksAddresses: Bool
    let clock: ClockSource
    let delays: DelaySource
    /// Evenly spread over 0...1.
    let random: @Sendable () -> Double

    /// - Parameter partials: in place of what the config says of bodies that broke off.
    init(
        config: WebImageDownloaderConfig,
        transport: any HTTPTransport,
        clock: ClockSource = .system,
        delays: DelaySource = .system,
        partials: PartialDownloads? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.transport = HedgingTransport(transport, delays: delays)
        checksAddresses = transport.checksAddresses
        self.clock = clock
        self.delays = delays
        self.random = random
        var coordinator = DownloadCoordinator<DownloadTransfer.Key>(maximumRunning: config.maxConcurrentDownloads)
        coordinator.scheduler.isLIFO = config.executionOrder == .lifo
        let accept = ImageCodersManager.shared.accept
        let headers: HTTPHeaders = ["User-Agent": UserAgent.standard, "Accept": accept.value]
        var initial = DownloaderState(config: ConfigSnapshot(config), headers: headers, coordinator: coordinator)
        initial.acceptGeneration = accept.generation
        initial.partials = partials ?? Self.partials(config, former: nil, clock: clock)
        initial.updateRights()
        state = Lock(initial)
    }

    // MARK: Settings

    var config: WebImageDownloaderConfig {
        get { state.withLock { $0.config.given } }
        set {
            let (starts, pauses) = locked { state -> ([Turn], [DownloadRecord.Pause]) in
                let former = state.config.given
                if former.credential != newValue.credential || former.sourcePolicy != newValue.sourcePolicy {
                    state.generation += 1
                }
                let held = former.hostBackOff != newValue.hostBackOff ? state.hosts.reset() : []
                state.config = ConfigSnapshot(newValue)
                state.updateRights()
                state.partials = Self.partials(newValue, former: state.partials, clock: clock)
                state.coordinator.scheduler.maximumRunning = newValue.maxConcurrentDownloads
                state.coordinator.scheduler.isLIFO = newValue.executionOrder == .lifo
                let pauses = wake(held, &state)
                return (takeStarts(&state), pauses)
            }
            withExtendedLifetime(pauses) {}
            run(starts)
        }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.coordinator.scheduler.isSuspended } }
        set {
            let starts = locked { state -> [Turn] in
                state.coordinator.scheduler.isSuspended = newValue
                return takeStarts(&state)
            }
            run(starts)
        }
    }

    var transferCount: Int { state.withLock { $0.coordinator.transferCount } }

    /// Callers that wait.
    var callerCount: Int { state.withLock { $0.coordinator.tokenCount } }

    /// The fields of all requests.
    var headers: HTTPHeaders {
        let accept = ImageCodersManager.shared.accept
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
            state.generation += 1
        }
    }

    /// The downloader's own hooks, for loads whose contexts have none. A change has effect for downloads that are asked for
    /// afterwards, which do not join those before.
    var hooks: DownloadTransferHooks { state.withLock { $0.hooks } }

    /// - Parameter change: called with the lock held.
    func changeHooks(_ change: (inout DownloadTransferHooks) -> Void) {
        let former = state.withLock { state -> DownloadTransferHooks in
            let former = state.hooks
            change(&state.hooks)
            if state.hooks.identity != former.identity { state.generation += 1 }
            return former
        }
        // Hooks may own anything: they are let go of outside the lock.
        withExtendedLifetime(former) {}
    }

    // MARK: Callers

    /// Attaches a caller; nil when it was told at once that the load cannot be.
    func subscribe(_ request: ImageLoadRequest, _ subscriber: DownloadSubscriber) -> UInt64? {
        if let problem = DetachedThread.forkProblem ?? Self.problem(of: request) {
            subscriber.finish(.failure(problem.with(url: request.url)))
            return nil
        }
        var key = DownloadTransfer.Key(request, generation: 0)
        let hooks = DownloadTransferHooks(request.context)
        let accept = ImageCodersManager.shared.accept
        enum Answer {
            case attached(UInt64, [Turn], LoadProgress?)
            case refused(WebImageError)
        }
        let answer = locked { state -> Answer in
            if state.isInvalidated {
                return .refused(WebImageError(.invalidDownloadOperation, "the downloader was invalidated"))
            }
            if let problem = state.headersProblem ?? refusal(of: request.url, by: state.config.value.sourcePolicy) {
                return .refused(problem)
            }
            state.use(accept)
            key.generation = state.generation
            let (token, id, isNew) = state.coordinator.subscribe(key: key, priority: request.priority)
            if isNew {
                state.records[id] = DownloadRecord(id: id, key: key, hooks: hooks)
            }
            state.records[id]?.add(subscriber, token: token)
            let wasSent = state.records[id]?.isSent ?? false
            let starts = takeStarts(&state)
            state.records[id]?.tellStanding(subscriber, wasSent: wasSent)
            return .attached(token, starts, state.records[id]?.progress)
        }
        switch answer {
        case .refused(let error):
            subscriber.finish(.failure(error.with(url: request.url)))
            return nil
        case .attached(let token, let starts, let progress):
            subscriber.deliverEvents()
            if let progress { subscriber.post(progress) }
            run(starts)
            return token
        }
    }

    /// True if the caller was still waiting; it has its cancellation then.
    @discardableResult
    func cancel(_ token: UInt64) -> Bool {
        struct Departure {
            var subscriber: DownloadSubscriber?
            var abandoned: DownloadRecord?
            var starts: [Turn] = []
            var pauses: [DownloadRecord.Pause] = []
        }
        let departure = locked { state -> Departure in
            switch state.coordinator.cancel(token) {
            case .unknown:
                return Departure()
            case .left(let id):
                return Departure(subscriber: state.records[id]?.members.removeValue(forKey: token))
            case .last(let id, _):
                guard let record = state.records.removeValue(forKey: id) else { return Departure() }
                let subscriber = record.members.removeValue(forKey: token)
                state.noteEnd(of: record, error: .cancelled(subscriber?.url), metrics: nil)
                let pauses = wake(state.hosts.release(id), &state)
                let starts = takeStarts(&state)
                return Departure(subscriber: subscriber, abandoned: record, starts: starts, pauses: pauses)
            }
        }
        let subscriber = departure.subscriber
        departure.abandoned?.abandon()
        run(departure.starts)
        subscriber?.finish(.failure(.cancelled(subscriber?.url)))
        retireIfDone()
        return subscriber != nil
    }

    func setPriority(_ priority: LoadPriority, of token: UInt64) {
        state.withLock { $0.coordinator.setPriority(priority, of: token) }
    }

    func cancelAll() {
        let (records, tables) = locked { state -> ([DownloadRecord], any Sendable) in
            // Kept until the end: to release the tables of a long queue takes longer than to end it.
            let tables = (state.coordinator, state.records)
            let records = state.coordinator.closeAll().transfers.compactMap { state.records[$0] }
            state.records = [:]
            for record in records {
                state.noteEnd(of: record, error: .cancelled(record.key.url), metrics: nil)
                _ = state.hosts.release(record.id)
            }
            _ = takeStarts(&state)
            return (records, tables)
        }
        // All of them first: a caller that is told may take its time, and start others.
        for record in records { record.abandon() }
        for record in records {
            for subscriber in record.inOrder { subscriber.finish(.failure(.cancelled(subscriber.url))) }
        }
        if records.count > 512 { CallbackQueue.global.async { withExtendedLifetime((records, tables)) {} } }
        retireIfDone()
    }

    func invalidate(cancelling: Bool) {
        state.withLock { $0.isInvalidated = true }
        if cancelling { cancelAll() }
        retireIfDone()
    }

    // MARK: Observers

    func addObserver(_ mailbox: DownloadMailbox) { state.withLock { $0.observers.append(mailbox) } }

    func removeObserver(_ mailbox: DownloadMailbox) { state.withLock { $0.observers.removeAll { $0 === mailbox } } }

    var statistics: DownloadStatistics { state.withLock { $0.statistics } }

    /// Bytes per second over all transfers; nil while there is too little to say.
    var bytesPerSecond: Double? {
        let now = clock.monotonicNanoseconds()
        return state.withLock { $0.line.rate(at: now) }
    }

    // MARK: Helpers

    /// Changes the state, and tells observers afterwards.
    func locked<Result>(_ body: (inout DownloaderState) -> Result) -> Result {
        let (result, outbox) = state.withLock { state -> (Result, [DownloadMailbox]) in
            let result = body(&state)
            guard !state.outbox.isEmpty else { return (result, []) }
            defer { state.outbox = [] }
            return (result, state.outbox)
        }
        for mailbox in outbox { mailbox.deliver() }
        return result
    }

    func retireIfDone() {
        let isDone = state.withLock { $0.isInvalidated && $0.coordinator.transferCount == 0 }
        if isDone { transport.invalidate() }
    }
}
