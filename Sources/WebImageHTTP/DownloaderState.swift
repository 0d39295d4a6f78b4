import FoundationEssentials

/// The state behind the lock of a ``DownloaderCore``.
struct DownloaderState {
    var config: ConfigSnapshot
    var headers: HTTPHeaders
    var headersProblem: WebImageError?
    /// The access rights of requests that have no header fields of their load; see ``LoadRights``.
    var ownRights: String?
    var hooks = DownloadTransferHooks()
    var records: [UInt64: DownloadRecord] = [:]
    private(set) var lastID: UInt64 = 0
    /// The store of interrupted bodies; nil if they are not kept.
    var partials: (any PartialBodyStore)?
    /// True while a check of slow bodies is scheduled.
    var looksAtSlowBodies = false
    var isInvalidated = false
    var observers: [(mailbox: CallbackMailbox, body: @Sendable (DownloadEvent) -> Void)] = []
    /// Observers with pending events, notified after the lock is released.
    var outbox: [CallbackMailbox] = []
    /// Ended pauses, released after the lock.
    var endedPauses: [DownloadRecord.Pause] = []
    /// The hosts that failed lately, or asked clients to wait.
    var hosts = HostTable()
    /// The rate of arriving bytes over all transfers.
    var line = ThroughputMeter()
    /// The generation of coders behind the `Accept` field; nil if the user has set or removed the field.
    var acceptGeneration: UInt64?
    /// The counters of ``DownloadStatistics``, not its readings.
    var counts = DownloadStatistics()

    // The queue: starts downloads by priority and then by order, up to the maximum number at once.
    private var queue = JobHeap<DownloadRecord>()
    /// While true, no download starts.
    var isSuspended = false
    /// The number of downloads that occupy a slot.
    private(set) var runningCount = 0

    init(config: ConfigSnapshot, headers: HTTPHeaders) {
        self.config = config
        self.headers = headers
        queue.order = config.given.executionOrder == .lifo ? .lifo : .fifo
    }

    /// Updates the `Accept` field to the current coders, unless the user has set or removed the field. Running downloads are still
    /// shared: their responses are images, too.
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

    /// Updates counts and observers for a download whose record was removed.
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

    /// Counts bytes without overflow: a custom transport may report any number.
    mutating func noteReceived(_ count: Int64) {
        counts.receivedByteCount = counts.receivedByteCount.adding(clamped: max(count, 0))
    }

    /// The statistics without the callers.
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
    /// Adds a new download to the queue.
    mutating func add(_ record: DownloadRecord) {
        lastID += 1
        record.id = lastID
        records[lastID] = record
        enqueue(record)
    }

    mutating func enqueue(_ record: DownloadRecord) {
        record.place = .waiting(queue.insert(record, priority: record.priority))
    }

    /// Takes the next download to start, which occupies a slot from then on; nil if none may start.
    mutating func startNext() -> DownloadRecord? {
        guard !isSuspended, runningCount < max(config.given.maxConcurrentDownloads, 1), let record = queue.popFirst()
        else { return nil }
        record.place = .running
        runningCount += 1
        return record
    }

    /// Removes a download from the queue, or releases its slot; it stays in the table.
    mutating func leavePlace(_ record: DownloadRecord) {
        switch record.place {
        case .none, .parked: break
        case .waiting(let job): _ = queue.remove(job)
        case .running: runningCount -= 1
        }
        record.place = .none
    }

    /// Puts aside a download that runs or waits: it occupies no slot and is not started.
    mutating func park(_ record: DownloadRecord) {
        leavePlace(record)
        record.place = .parked
    }

    /// Changes a download's priority. It is queued behind the downloads of the new priority (before them if last in, first out).
    mutating func setPriority(_ priority: LoadPriority, of record: DownloadRecord) {
        record.priority = priority
        if case .waiting(let job) = record.place { queue.setPriority(priority, of: job) }
    }

    /// Returns whether a download has not ended.
    func has(_ record: DownloadRecord) -> Bool { records[record.id] != nil }

    /// Removes a download that ends; nil if it has already ended.
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

    /// Removes all downloads, in the order in which they were added. Also returns their tables: releasing the tables of a long
    /// queue takes longer than ending it.
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

/// A config behind a reference: transfers share it, and a download costs one retain instead of a copy of all fields.
final class ConfigSnapshot: Sendable {
    /// The config as the user has set it.
    let given: WebImageDownloaderConfig
    /// The effective config: the same within the limits of its policy.
    let value: WebImageDownloaderConfig

    // Reading a property of `value` copies the whole struct, so the properties that each download needs are stored here, too.
    let credential: WebImageCredential?
    /// The minimum fraction of a body between two progress reports.
    let progressInterval: Double
    let sniffer: ImageSniffer?
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
