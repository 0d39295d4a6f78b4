import FoundationEssentials

/// One download through all its attempts, for one receiver.
///
/// A class: a struct in a table would be copied whole for each access to one of its fields.
package final class DownloadRecord: ImageLoaderOperation, @unchecked Sendable {
    // Sendable because the core's lock guards the mutable state.

    typealias Completion = @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    /// The download's position in the downloader's queue.
    enum Place {
        case none
        /// In the queue, with the number of its job there.
        case waiting(UInt64)
        /// Occupies one of the download slots.
        case running
        /// Neither running nor queued; will be queued again.
        case parked
    }

    /// A wait before another attempt, or until the host may be contacted.
    struct Pause {
        var since: UInt64
        /// True if the pending attempt is postponed because of its host, and no attempt has failed.
        var isForHost = false
        /// Nil until the timer is set, and if there is none.
        var cancel: (@Sendable () -> Void)?
    }

    /// The state from the first attempt on. A separate object, so that a download that waits takes little memory.
    package final class Course {
        /// The part of the body that the previous attempt received.
        fileprivate var former: PartialDownload?
        var progress: LoadProgress?
        /// The last request, and the response to it.
        package var request: DownloadRequest?
        package var response: HTTPResponse?
        /// The timings; set at the end.
        package fileprivate(set) var metrics: DownloadMetrics?
        var meter = BandwidthMeter()
        /// The time of the first attempt on the monotonic clock, if a policy limits the time of all attempts.
        var startedAt: UInt64?
        /// The total of all pauses, in nanoseconds.
        var paused: UInt64 = 0
        /// The number of bytes of the current attempt's body that earlier attempts received.
        var resumedByteCount: Int64 = 0
    }

    /// The cleanup that remains, without a lock, for a download that was removed from the table.
    struct Remains {
        private let pause: Pause?
        private let transfer: DownloadTransfer?
        private let completion: Completion?
        private let error: WebImageError?
        private let onProgress: (@Sendable (LoadProgress) -> Void)?
        private let others: ((any LoadEventSink)?, PartialImageData?, WebImageContext.Rare?)

        /// Moves the fields out of the record, which callers may keep for queries.
        fileprivate init(_ record: DownloadRecord, _ error: WebImageError?) {
            (pause, transfer) = (record.pause, record.transfer)
            self.error = error
            (completion, onProgress) = (record.completion, record.onProgress)
            others = (record.trace, record.partialData, record.rare)
            (record.pause, record.transfer) = (nil, nil)
            if record.hasStarted { record.course.former = nil }
            (record.completion, record.onProgress) = (nil, nil)
            (record.trace, record.partialData, record.rare) = (nil, nil, nil)
        }

        /// Cancels the running work.
        func abandon() {
            pause?.cancel?()
            transfer?.cancel()
        }

        /// - Parameter loaded: the result if the download did not fail.
        func complete(with loaded: LoadedImageData? = nil) {
            if let error { completion?(.failure(error)) }
            if error == nil, let loaded { completion?(.success(loaded)) }
        }
    }

    let core: DownloaderCore
    let url: URL
    let options: WebImageOptions
    let headers: HTTPHeaders
    /// The part of the body to request; nil for all of it.
    let part: BodyPart?
    /// The hooks and the retry policy of the load; nil if it has none, and after the end.
    private var rare: WebImageContext.Rare?
    /// The observer that receives events and returns the number of callers.
    private(set) var trace: (any LoadEventSink)?
    /// Receives the bytes so far, for previews.
    private(set) var partialData: PartialImageData?
    private(set) var onProgress: (@Sendable (LoadProgress) -> Void)?
    private var completion: Completion?

    var id: UInt64 = 0
    var priority: LoadPriority
    var place = Place.none
    /// The number of the current attempt, 1 for the first; during a pause, that of the next one.
    private(set) var attempt = 1
    /// The current attempt; nil until it is sent, so that a download in the queue takes little memory.
    private(set) var transfer: DownloadTransfer?
    package private(set) lazy var course = Course()
    /// True once the first attempt was started.
    var hasStarted = false
    var pause: Pause?
    private var wasCancelled = false
    private var events: CallbackMailbox?

    init(
        _ request: ImageLoadRequest,
        core: DownloaderCore,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping Completion
    ) {
        self.core = core
        url = request.url
        options = request.options
        headers = request.additionalHeaders
        part = request.part
        rare = request.context?.rare
        trace = request.trace
        partialData = request.partialData
        priority = request.priority
        onProgress = progress
        self.completion = completion
    }

    /// The hooks of the load; they override the downloader's hooks.
    var hooks: DownloadTransferHooks { rare?.values.hooks ?? DownloadTransferHooks() }
    /// The retry policy of the load.
    var retryPolicy: DownloadRetryPolicy? { rare?.values.retryPolicy }

    // MARK: ImageLoaderOperation

    package var isCancelled: Bool { core.state.withLock { _ in wasCancelled } }

    package func cancel() { core.cancel(self) }

    package func setPriority(_ priority: LoadPriority) { core.state.withLock { $0.setPriority(priority, of: self) } }

    /// Returns a value of the record, read under the core's lock.
    package func facts<Value>(_ path: KeyPath<DownloadRecord, Value>) -> Value {
        core.state.withLock { _ in self[keyPath: path] }
    }

    /// True if the download neither runs nor waits in the queue, and will be queued again.
    var isParked: Bool {
        if case .parked = place { return true }
        return false
    }

    // MARK: Attempts

    /// Returns the current attempt, ready to begin; it counts as sent.
    func send(_ plan: DownloadTransfer.Plan) -> DownloadTransfer {
        let transfer = DownloadTransfer(self, attempt: attempt, former: course.former, plan: plan)
        self.transfer = transfer
        course.former = nil
        return transfer
    }

    /// Returns the deadline of all attempts together, on the monotonic clock; nil if their time is not limited.
    func deadline(_ policy: SourcePolicy) -> UInt64? {
        guard !policy.isTrusted, policy.maximumDuration > 0, let startedAt = course.startedAt else { return nil }
        return startedAt.adding(clamped: TransferTimer.nanoseconds(policy.maximumDuration))
    }

    /// Replaces the current attempt, which has ended, with the next one.
    func beginNextAttempt(now: UInt64) {
        attempt += 1
        // An attempt that was not sent because of its host's back-off has not used the former part.
        if let transfer { course.former = transfer.leftover }
        transfer = nil
        (course.progress, course.request, course.response) = (nil, nil, nil)
        course.meter = BandwidthMeter()
        course.resumedByteCount = 0
        pause = Pause(since: now)
    }

    /// Returns the last attempt's metrics, completed with the attempt count and the waiting time of all attempts.
    func completed(_ metrics: DownloadMetrics) -> DownloadMetrics {
        var metrics = metrics
        metrics.attemptCount = attempt
        metrics.waitedForRetry = Double(course.paused) / 1e9
        return metrics
    }

    /// Records the end of a download that was removed from the table.
    func end(_ error: WebImageError?, _ metrics: DownloadMetrics?) -> Remains {
        wasCancelled = error?.code == .cancelled
        if let metrics { course.metrics = metrics }
        return Remains(self, error)
    }

    // MARK: Events

    /// Appends an event to the mailbox, which delivers events to subscribers in order and after the lock is released.
    func leave(_ event: @autoclosure () -> WebImageLoadEvent.Kind) -> CallbackMailbox? {
        guard let trace, trace.isActive else { return nil }
        let mailbox = events ?? CallbackMailbox(.inline)
        events = mailbox
        let event = event()
        mailbox.append { if trace.isActive { trace.send(event) } }
        return mailbox
    }

    /// A description of the download at the time of an event.
    var info: DownloadInfo {
        DownloadInfo(
            id: id,
            url: url,
            callerCount: trace?.callerCount ?? 1,
            attempt: pause?.isForHost ?? true ? attempt : attempt - 1
        )
    }
}
