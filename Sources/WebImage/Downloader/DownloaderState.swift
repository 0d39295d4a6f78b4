import FoundationEssentials

/// A transfer with those who wait for it, through all its attempts.
///
/// An object: as a value in a table it would be copied whole whenever one of its fields is looked at.
final class DownloadRecord: @unchecked Sendable {
    // Sendable because the core's lock guards it, and once it is out of the table whoever has taken it out has it alone.

    /// A wait, before another attempt or until the host may be asked.
    struct Pause {
        var since: UInt64
        /// Whether the attempt that follows is put off, and none has failed.
        var isForHost = false
        /// Nil until the timer has been set, and without one.
        var cancel: (@Sendable () -> Void)?
    }

    let id: UInt64
    let key: DownloadTransfer.Key
    /// The hooks of the callers' contexts. Keeps those alive whose identities are in the key.
    let hooks: DownloadTransferHooks
    /// The number of the current attempt, 1 for the first; during a pause of the next one.
    var attempt = 1
    /// The current attempt; nil until it is sent, so that a download in the queue takes little memory.
    private(set) var transfer: DownloadTransfer?
    /// The part of the body that the attempt before received.
    private var former: PartialDownload?
    var members: [UInt64: DownloadSubscriber] = [:]
    var progress: LoadProgress?
    var request: DownloadRequest?
    var response: HTTPResponse?
    /// Whether anybody who joined listens to the progress.
    var hasListeners = false
    var meter = BandwidthMeter()
    /// Whether the first attempt was begun.
    var hasStarted = false
    /// When that was, on the monotonic clock, if a policy bounds the time of all attempts.
    var startedAt: UInt64?
    /// Whether the present attempt was begun.
    var isSent = false
    var retries = RetryDecider()
    var pause: Pause?
    /// Nanoseconds of all pauses.
    var paused: UInt64 = 0
    /// Bytes of the present attempt's body that were there before it.
    var resumedByteCount: Int64 = 0

    init(id: UInt64, key: DownloadTransfer.Key, hooks: DownloadTransferHooks) {
        self.id = id
        self.key = key
        self.hooks = hooks
    }

    /// The present attempt, to be begun; it counts as sent.
    func send(core: DownloaderCore) -> DownloadTransfer {
        let transfer = DownloadTransfer(id: id, key: key, hooks: hooks, attempt: attempt, former: former, core: core)
        self.transfer = transfer
        former = nil
        isSent = true
        return transfer
    }

    func add(_ subscriber: DownloadSubscriber, token: UInt64) {
        members[token] = subscriber
        if subscriber.wantsProgress { hasListeners = true }
        if let request { subscriber.note(request) }
        if let response { subscriber.note(response) }
    }

    /// The callers in the order they came.
    var inOrder: [DownloadSubscriber] {
        members.count < 2 ? Array(members.values) : members.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Leaves an event with those who want to know; they are to be told once the lock is given back.
    func tell(_ event: (DownloadRecord) -> WebImageLoadEvent.Kind) -> [DownloadSubscriber] {
        let listeners = members.values.filter(\.wantsEvents)
        guard !listeners.isEmpty else { return [] }
        let event = event(self)
        for listener in listeners { listener.leave(event) }
        return listeners
    }

    /// Counts another attempt for all callers, and tells those who want to know.
    func tellRetry(_ error: WebImageError, after seconds: Double) -> [DownloadSubscriber] {
        for member in members.values { member.trace?.pipeline.totals.retries.add() }
        return tell { _ in .retried(error, after: seconds) }
    }

    /// Tells a caller that has just come how far things are.
    ///
    /// - Parameter wasSent: whether the request had been sent before the caller came; if it was sent then, the caller has heard.
    func tellStanding(_ subscriber: DownloadSubscriber, wasSent: Bool) {
        guard subscriber.wantsEvents else { return }
        guard isSent else { return subscriber.leave(.queued(.download)) }
        guard wasSent else { return }
        subscriber.leave(.requestSent(attempt: attempt))
        if let response { subscriber.leave(.firstByte(response)) }
    }

    /// When all attempts together must be over, on the monotonic clock; nil where nothing bounds them.
    func deadline(_ policy: SourcePolicy) -> UInt64? {
        guard !policy.isTrusted, policy.maximumDuration > 0, let startedAt else { return nil }
        let (sum, overflow) = startedAt.addingReportingOverflow(TransferTimer.nanoseconds(policy.maximumDuration))
        return overflow ? nil : sum
    }

    /// Puts the next attempt in place of the present one, which has ended.
    func beginNextAttempt(now: UInt64) {
        attempt += 1
        // An attempt that was not begun, because its host is left alone, has not looked at what there was.
        if isSent { former = transfer?.leftover }
        transfer = nil
        // What the attempt before sent and received says nothing to those who join from now on.
        (progress, request, response) = (nil, nil, nil)
        meter = BandwidthMeter()
        isSent = false
        resumedByteCount = 0
        pause = Pause(since: now)
    }

    /// Ends what is under way for it. Call without a lock.
    func abandon() {
        pause?.cancel?()
        transfer?.cancel()
    }

    /// The download at the time of an event.
    var info: DownloadInfo {
        DownloadInfo(
            id: id,
            url: key.url,
            callerCount: members.count,
            attempt: pause?.isForHost ?? true ? attempt : attempt - 1
        )
    }
}

/// What the lock of a ``DownloaderCore`` guards.
struct DownloaderState {
    /// A transfer to start, with what it starts with.
    struct Start {
        let transfer: DownloadTransfer
        let config: ConfigSnapshot
        let headers: HTTPHeaders
        let hooks: DownloadTransferHooks
        let partials: PartialDownloads?
        /// When the download must be over.
        let deadline: UInt64?
        /// Callers who are to be told.
        let listeners: [DownloadSubscriber]
    }

    var config: ConfigSnapshot
    var headers: HTTPHeaders
    var headersProblem: WebImageError?
    /// With whose rights requests are sent that have no fields of their own; see ``LoadRights``.
    var ownRights: String?
    var hooks = DownloadTransferHooks()
    var generation: UInt64 = 0
    var coordinator: DownloadCoordinator<DownloadTransfer.Key>
    var records: [UInt64: DownloadRecord] = [:]
    /// Where bodies that broke off are kept; nil when they are not.
    var partials: PartialDownloads?
    var keeping = DownloaderCore.Keeping()
    var isInvalidated = false
    var observers: [DownloadMailbox] = []
    /// Observers with news, to be told once the lock is given back.
    var outbox: [DownloadMailbox] = []
    /// The hosts that have failed lately, or asked to be left alone.
    var hosts = HostTable()
    /// How fast bytes arrive.
    var line = LineMeter()
    /// The coders that the `Accept` field stands for; nil when the user has set or removed the field.
    var acceptGeneration: UInt64?
    /// The counters of ``DownloadStatistics``, not its readings.
    var counts = DownloadStatistics()

    /// Takes over what coders take by now, unless the user has set or removed the field. Downloads under way are shared as before: their
    /// answers are pictures, too.
    mutating func use(_ accept: AcceptField) {
        guard let known = acceptGeneration, known < accept.generation else { return }
        headers["Accept"] = accept.value
        acceptGeneration = accept.generation
    }

    // MARK: Observers

    var isObserved: Bool { !observers.isEmpty }

    mutating func emit(_ event: DownloadEvent) {
        for observer in observers {
            observer.post(event)
            if !outbox.contains(where: { $0 === observer }) { outbox.append(observer) }
        }
    }

    /// Accounts for a download whose record has been taken out.
    mutating func noteEnd(of record: DownloadRecord, error: WebImageError?, metrics: DownloadMetrics?) {
        guard record.hasStarted else { return }
        switch error?.code {
        case nil: counts.succeeded += 1
        case .cancelled?: counts.cancelled += 1
        default: counts.failed += 1
        }
        if metrics == nil { noteReceived((record.progress?.receivedByteCount ?? 0) - record.resumedByteCount) }
        guard isObserved else { return }
        emit(.stopped(record.info, error, metrics))
        if error == nil, let metrics { emit(.finished(record.info, metrics)) }
    }

    /// Counts bytes; what a transport of one's own says of them must not overflow.
    mutating func noteReceived(_ count: Int64) {
        let (sum, overflow) = counts.receivedByteCount.addingReportingOverflow(max(count, 0))
        counts.receivedByteCount = overflow ? .max : sum
    }

    var statistics: DownloadStatistics {
        var result = counts
        result.waiting = coordinator.scheduler.waitingCount
        result.waitingForRetry = coordinator.parkedCount
        result.running = coordinator.transferCount - result.waiting - result.waitingForRetry
        result.callers = coordinator.tokenCount
        return result
    }
}

/// A config behind a reference: transfers share it, and a download costs one retain instead of a copy of all its fields.
final class ConfigSnapshot: Sendable {
    /// As the user has set it.
    let given: WebImageDownloaderConfig
    /// What holds: the same within the bounds of its policy.
    let value: WebImageDownloaderConfig

    init(_ given: WebImageDownloaderConfig) {
        self.given = given
        value = given.withinPolicy
    }
}
