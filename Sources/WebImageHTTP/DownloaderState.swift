import FoundationEssentials

/// What the lock of a ``DownloaderCore`` guards.
struct DownloaderState {
    var config: ConfigSnapshot
    var headers: HTTPHeaders
    var headersProblem: WebImageError?
    /// With whose rights requests are sent that have no fields of their own; see ``LoadRights``.
    var ownRights: String?
    var hooks = DownloadTransferHooks()
    var records: [UInt64: DownloadRecord] = [:]
    private(set) var lastID: UInt64 = 0
    /// Where bodies that broke off are kept; nil when they are not.
    var partials: (any PartialBodyStore)?
    /// Whether slow bodies are looked at before long.
    var looksAtSlowBodies = false
    var isInvalidated = false
    var observers: [(mailbox: CallbackMailbox, body: @Sendable (DownloadEvent) -> Void)] = []
    /// Observers with news, to be told once the lock is given back.
    var outbox: [CallbackMailbox] = []
    /// What downloads have waited with, to be released once the lock is given back.
    var endedPauses: [DownloadRecord.Pause] = []
    /// The hosts that have failed lately, or asked to be left alone.
    var hosts = HostTable()
    /// How fast bytes arrive.
    var line = LineMeter()
    /// The coders that the `Accept` field stands for; nil when the user has set or removed the field.
    var acceptGeneration: UInt64?
    /// The counters of ``DownloadStatistics``, not its readings.
    var counts = DownloadStatistics()

    // The queue: which download starts next, by priority and then by order, and never more than a number at once.
    private var queue = JobHeap<DownloadRecord>()
    /// While set, nothing starts.
    var isSuspended = false
    /// Those that take a place.
    private(set) var runningCount = 0

    init(config: ConfigSnapshot, headers: HTTPHeaders) {
        self.config = config
        self.headers = headers
        queue.order = config.given.executionOrder == .lifo ? .lifo : .fifo
    }

    /// Takes over what coders take by now, unless the user has set or removed the field. Downloads under way are shared as before: their
    /// answers are pictures, too.
    mutating func use(_ accept: AcceptField) {
        guard let known = acceptGeneration, known < accept.generation else { return }
        headers["Accept"] = accept.value
        acceptGeneration = accept.generation
    }

    mutating func use(_ newConfig: WebImageDownloaderConfig) {
        config = ConfigSnapshot(newConfig)
        queue.order = newConfig.executionOrder == .lifo ? .lifo : .fifo
    }

    // MARK: Observers

    var isObserved: Bool { !observers.isEmpty }

    mutating func emit(_ event: DownloadEvent) {
        for observer in observers {
            observer.mailbox.append { [body = observer.body] in body(event) }
            if !outbox.contains(where: { $0 === observer.mailbox }) { outbox.append(observer.mailbox) }
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
        if metrics == nil {
            let course = record.course
            noteReceived((course.progress?.receivedByteCount ?? 0) - course.resumedByteCount)
        }
        guard isObserved else { return }
        let info = record.info
        emit(.stopped(info, error, metrics))
        if error == nil, let metrics { emit(.finished(info, metrics)) }
    }

    /// Counts bytes; what a transport of one's own says of them must not overflow.
    mutating func noteReceived(_ count: Int64) {
        counts.receivedByteCount = counts.receivedByteCount.adding(clamped: max(count, 0))
    }

    /// All but the callers.
    var statistics: DownloadStatistics {
        var result = counts
        result.waiting = queue.count
        result.waitingForRetry = records.values.count { $0.isParked }
        result.running = records.count - result.waiting - result.waitingForRetry
        return result
    }
}

/// The queue. Every operation takes amortised O(1).
extension DownloaderState {
    /// Takes a new download in, which waits to be started.
    mutating func add(_ record: DownloadRecord) {
        lastID += 1
        record.id = lastID
        records[lastID] = record
        enqueue(record)
    }

    mutating func enqueue(_ record: DownloadRecord) {
        record.place = .waiting(queue.insert(record, priority: record.priority))
    }

    /// The next to start, which takes a place from now on; nil when nothing may or can start.
    mutating func startNext() -> DownloadRecord? {
        guard !isSuspended, runningCount < max(config.given.maxConcurrentDownloads, 1), let record = queue.popFirst()
        else { return nil }
        record.place = .running
        runningCount += 1
        return record
    }

    /// Takes a download out of the line, or gives its place to others; it is still in the table.
    mutating func leavePlace(_ record: DownloadRecord) {
        switch record.place {
        case .none, .parked: break
        case .waiting(let job): _ = queue.remove(job)
        case .running: runningCount -= 1
        }
        record.place = .none
    }

    /// Puts a download aside that runs or waits: it takes no place and is not started.
    mutating func park(_ record: DownloadRecord) {
        leavePlace(record)
        record.place = .parked
    }

    /// Makes a download more or less urgent, behind those that wait there (before them, last in first out).
    mutating func setPriority(_ priority: LoadPriority, of record: DownloadRecord) {
        record.priority = priority
        if case .waiting(let job) = record.place { queue.setPriority(priority, of: job) }
    }

    /// Whether a download has not ended.
    func has(_ record: DownloadRecord) -> Bool { records[record.id] != nil }

    /// Takes a download out that ends; nil if it has ended.
    mutating func remove(
        _ record: DownloadRecord,
        error: WebImageError?,
        metrics: DownloadMetrics?
    ) -> DownloadRecord.Remains? {
        guard records.removeValue(forKey: record.id) != nil else { return nil }
        leavePlace(record)
        noteEnd(of: record, error: error, metrics: metrics)
        return record.end(error, metrics)
    }

    /// Takes all downloads out, in the order they came. With what they were kept in: to release the tables of a long queue takes
    /// longer than to end it.
    mutating func removeAll() -> ([DownloadRecord.Remains], tables: any Sendable) {
        let tables = (queue, records)
        queue = JobHeap()
        queue.order = tables.0.order
        (records, runningCount) = ([:], 0)
        let remains = tables.1.keys.sorted().compactMap { tables.1[$0] }.map { record in
            record.place = .none
            _ = hosts.release(record.id)
            let error = WebImageError.cancelled(record.url)
            noteEnd(of: record, error: error, metrics: nil)
            return record.end(error, nil)
        }
        return (remains, tables)
    }
}

/// A config behind a reference: transfers share it, and a download costs one retain instead of a copy of all its fields.
final class ConfigSnapshot: Sendable {
    /// As the user has set it.
    let given: WebImageDownloaderConfig
    /// What holds: the same within the bounds of its policy.
    let value: WebImageDownloaderConfig

    // Whoever reads a property of the value copies all of it: those that each download asks for are here, too.
    let credential: WebImageCredential?
    /// The least part of a body whose arrival is told.
    let progressInterval: Double
    let sniffer: PictureSniffer?
    let isTrusted: Bool
    let maximumResponseByteCount: Int

    init(_ given: WebImageDownloaderConfig) {
        let value = given.withinPolicy
        self.given = given
        self.value = value
        credential = value.credential
        progressInterval = min(max(value.minimumProgressInterval, 0), 1)
        sniffer = value.sniffer
        isTrusted = value.sourcePolicy.isTrusted
        maximumResponseByteCount = value.maximumResponseByteCount
    }
}
