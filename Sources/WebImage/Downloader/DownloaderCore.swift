import FoundationEssentials

/// What is behind a ``WebImageDownloader``: one lock around the coordinator and the transfers, and what must be done outside
/// it. Outlives the downloader until the last transfer has ended.
final class DownloaderCore: Sendable {
    /// A transfer with those who wait for it.
    private struct Record {
        let transfer: DownloadTransfer
        var members: [UInt64: DownloadSubscriber] = [:]
        var progress: LoadProgress?
        var request: DownloadRequest?
        var response: HTTPResponse?
        /// Whether anybody who joined listens to the progress.
        var hasListeners = false

        mutating func add(_ subscriber: DownloadSubscriber, token: UInt64) {
            members[token] = subscriber
            if subscriber.wantsProgress { hasListeners = true }
            if let request { subscriber.note(request) }
            if let response { subscriber.note(response) }
        }
    }

    private struct State {
        var config: ConfigSnapshot
        var headers: HTTPHeaders
        var headersProblem: WebImageError?
        var hooks = DownloadTransferHooks()
        var generation: UInt64 = 0
        var coordinator: DownloadCoordinator<DownloadTransfer.Key>
        var records: [UInt64: Record] = [:]
        var isInvalidated = false
    }

    /// A transfer to start, with what it starts with.
    private struct Start {
        let transfer: DownloadTransfer
        let config: ConfigSnapshot
        let headers: HTTPHeaders
        let hooks: DownloadTransferHooks
    }

    private let state: Lock<State>
    private let transport: any HTTPTransport

    init(config: WebImageDownloaderConfig, transport: any HTTPTransport) {
        self.transport = transport
        var coordinator = DownloadCoordinator<DownloadTransfer.Key>(maximumRunning: config.maxConcurrentDownloads)
        coordinator.scheduler.isLIFO = config.executionOrder == .lifo
        let headers: HTTPHeaders = ["User-Agent": UserAgent.standard, "Accept": "image/*,*/*;q=0.8"]
        state = Lock(State(config: ConfigSnapshot(config), headers: headers, coordinator: coordinator))
    }

    // MARK: Settings

    var config: WebImageDownloaderConfig {
        get { state.withLock { $0.config.value } }
        set {
            let starts = state.withLock { state -> [Start] in
                if state.config.value.credential != newValue.credential { state.generation += 1 }
                state.config = ConfigSnapshot(newValue)
                state.coordinator.scheduler.maximumRunning = newValue.maxConcurrentDownloads
                state.coordinator.scheduler.isLIFO = newValue.executionOrder == .lifo
                return Self.takeStarts(&state)
            }
            run(starts)
        }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.coordinator.scheduler.isSuspended } }
        set {
            let starts = state.withLock { state -> [Start] in
                state.coordinator.scheduler.isSuspended = newValue
                return Self.takeStarts(&state)
            }
            run(starts)
        }
    }

    var transferCount: Int { state.withLock { $0.coordinator.transferCount } }

    /// Callers that wait.
    var callerCount: Int { state.withLock { $0.coordinator.tokenCount } }

    func header(_ name: String) -> String? { state.withLock { $0.headers[name] } }

    func setHeader(_ name: String, _ value: String?) {
        state.withLock { state in
            state.headers[name] = value
            state.headersProblem = state.headers.problem
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
        if let problem = Self.problem(of: request) {
            subscriber.finish(.failure(problem.with(url: request.url)))
            return nil
        }
        var key = DownloadTransfer.Key(request, generation: 0)
        let hooks = DownloadTransferHooks(request.context)
        enum Answer {
            case attached(UInt64, [Start], LoadProgress?)
            case refused(WebImageError)
        }
        let answer = state.withLock { state -> Answer in
            if state.isInvalidated {
                return .refused(WebImageError(.invalidDownloadOperation, "the downloader was invalidated"))
            }
            if let problem = state.headersProblem { return .refused(problem) }
            key.generation = state.generation
            let (token, id, isNew) = state.coordinator.subscribe(key: key, priority: request.priority)
            if isNew {
                state.records[id] = Record(transfer: DownloadTransfer(id: id, key: key, hooks: hooks, core: self))
            }
            state.records[id]?.add(subscriber, token: token)
            return .attached(token, Self.takeStarts(&state), state.records[id]?.progress)
        }
        switch answer {
        case .refused(let error):
            subscriber.finish(.failure(error.with(url: request.url)))
            return nil
        case .attached(let token, let starts, let progress):
            if let progress { subscriber.post(progress) }
            run(starts)
            return token
        }
    }

    /// True if the caller was still waiting; it has its cancellation then.
    @discardableResult
    func cancel(_ token: UInt64) -> Bool {
        let (subscriber, abandoned, starts) = state.withLock { state -> (DownloadSubscriber?, Record?, [Start]) in
            switch state.coordinator.cancel(token) {
            case .unknown:
                return (nil, nil, [])
            case .left(let id):
                return (state.records[id]?.members.removeValue(forKey: token), nil, [])
            case .last(let id, _):
                let record = state.records.removeValue(forKey: id)
                return (record?.members[token], record, Self.takeStarts(&state))
            }
        }
        abandoned?.transfer.cancel()
        run(starts)
        subscriber?.finish(.failure(.cancelled(subscriber?.url)))
        retireIfDone()
        return subscriber != nil
    }

    func setPriority(_ priority: LoadPriority, of token: UInt64) {
        state.withLock { $0.coordinator.setPriority(priority, of: token) }
    }

    func cancelAll() {
        let records = state.withLock { state -> [Record] in
            let ids = state.coordinator.closeAll().transfers
            let records = ids.compactMap { state.records[$0] }
            state.records = [:]
            return records
        }
        for record in records {
            record.transfer.cancel()
            for (_, subscriber) in record.members.sorted(by: { $0.key < $1.key }) {
                subscriber.finish(.failure(.cancelled(subscriber.url)))
            }
        }
        retireIfDone()
    }

    func invalidate(cancelling: Bool) {
        state.withLock { $0.isInvalidated = true }
        if cancelling { cancelAll() }
        retireIfDone()
    }

    // MARK: From transfers

    /// What is being sent, as the hooks made it.
    func note(_ request: DownloadRequest, of id: UInt64) {
        state.withLock { state in
            guard let index = state.records.index(forKey: id) else { return }
            state.records.values[index].request = request
            for subscriber in state.records.values[index].members.values { subscriber.note(request) }
        }
    }

    /// The network has done its part of a transfer whose end is still to come, because its bytes are being decrypted. Will give
    /// its place to the next download; until then that happens at the end.
    func networkDidEnd(_ id: UInt64) {}

    func note(_ response: HTTPResponse, of id: UInt64) {
        state.withLock { state in
            guard let index = state.records.index(forKey: id) else { return }
            state.records.values[index].response = response
            for subscriber in state.records.values[index].members.values { subscriber.note(response) }
        }
    }

    func report(_ progress: LoadProgress, of id: UInt64) {
        let listeners = state.withLock { state -> [DownloadSubscriber] in
            guard let index = state.records.index(forKey: id) else { return [] }
            state.records.values[index].progress = progress
            guard state.records.values[index].hasListeners else { return [] }
            return state.records.values[index].members.values.filter(\.wantsProgress)
        }
        for listener in listeners { listener.post(progress) }
    }

    func finish(_ id: UInt64, _ result: Result<LoadedImageData, WebImageError>, metrics: DownloadMetrics) {
        let (record, tokens, starts) = state.withLock { state -> (Record?, [UInt64], [Start]) in
            let tokens = state.coordinator.close(id)
            return (state.records.removeValue(forKey: id), tokens, Self.takeStarts(&state))
        }
        // The network first, then the callers.
        run(starts)
        for token in tokens { record?.members[token]?.finish(result, metrics: metrics) }
        retireIfDone()
    }

    // MARK: Helpers

    private static func takeStarts(_ state: inout State) -> [Start] {
        var starts: [Start] = []
        while let id = state.coordinator.scheduler.startNext() {
            guard let transfer = state.records[id]?.transfer else { continue }
            starts.append(
                Start(transfer: transfer, config: state.config, headers: state.headers, hooks: state.hooks)
            )
        }
        return starts
    }

    private func run(_ starts: [Start]) {
        for start in starts {
            start.transfer.begin(transport, config: start.config, headers: start.headers, defaults: start.hooks)
        }
    }

    private func retireIfDone() {
        let isDone = state.withLock { $0.isInvalidated && $0.coordinator.transferCount == 0 }
        if isDone { transport.invalidate() }
    }

    /// Why a load cannot be, or nil.
    static func problem(of request: ImageLoadRequest) -> WebImageError? {
        guard serves(request.url), let host = request.url.host(), !host.isEmpty,
            request.url.absoluteString.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
        else {
            return WebImageError(.invalidURL, "the URL is not a well-formed http or https URL")
        }
        return request.additionalHeaders.fields.isEmpty ? nil : request.additionalHeaders.problem
    }

    /// Whether the URL's scheme is https.
    static func isSecure(_ url: URL) -> Bool { isSecure(url.absoluteString) }

    /// Whether the address's scheme is https.
    static func isSecure(_ address: String) -> Bool { hasScheme(address, "https:") }

    /// Reads the text itself: taking URLs apart is a tenth of what a small download costs.
    private static func hasScheme(_ address: String, _ scheme: StaticString) -> Bool {
        scheme.withUTF8Buffer { address.utf8.prefix($0.count).elementsEqual($0) { $0 | 0x20 == $1 | 0x20 } }
    }

    /// Whether the URL's scheme is http or https.
    static func serves(_ url: URL) -> Bool {
        let address = url.absoluteString
        return hasScheme(address, "https:") || hasScheme(address, "http:")
    }
}

/// A config behind a reference: transfers share it, and a download costs one retain instead of a copy of all its fields.
final class ConfigSnapshot: Sendable {
    let value: WebImageDownloaderConfig
    init(_ value: WebImageDownloaderConfig) { self.value = value }
}
