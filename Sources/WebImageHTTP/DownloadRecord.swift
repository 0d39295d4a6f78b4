import FoundationEssentials

/// One download through all its attempts, for one receiver.
///
/// An object: as a value in a table it would be copied whole whenever one of its fields is looked at.
package final class DownloadRecord: ImageLoaderOperation, @unchecked Sendable {
    // Sendable because the core's lock guards what changes.

    typealias Completion = @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    /// Where it is in the downloader's queue.
    enum Place {
        case none
        /// In line, with the number of its job there.
        case waiting(UInt64)
        /// Takes one of the places.
        case running
        /// Neither running nor waiting, and will wait again.
        case parked
    }

    /// A wait, before another attempt or until the host may be asked.
    struct Pause {
        var since: UInt64
        /// Whether the attempt that follows is put off, and none has failed.
        var isForHost = false
        /// Nil until the timer has been set, and without one.
        var cancel: (@Sendable () -> Void)?
    }

    /// The state from the first attempt on. A separate object, so that a download that waits takes little memory.
    package final class Course {
        /// The part of the body that the attempt before received.
        fileprivate var former: PartialDownload?
        var progress: LoadProgress?
        /// The last request, and the response to it.
        package var request: DownloadRequest?
        package var response: HTTPResponse?
        /// The timings, from the end on.
        package fileprivate(set) var metrics: DownloadMetrics?
        var meter = BandwidthMeter()
        /// When the first attempt was begun, on the monotonic clock, if a policy bounds the time of all attempts.
        var startedAt: UInt64?
        /// Nanoseconds of all pauses.
        var paused: UInt64 = 0
        /// Bytes of the present attempt's body that were there before it.
        var resumedByteCount: Int64 = 0
    }

    /// What is left to do, without a lock, for a download that is out of the table.
    struct Remains {
        private let pause: Pause?
        private let transfer: DownloadTransfer?
        private let completion: Completion?
        private let error: WebImageError?
        private let onProgress: (@Sendable (LoadProgress) -> Void)?
        private let others: ((any LoadTelling)?, PartialImageData?, WebImageContext.Rare?)

        /// Takes it from the record, which callers may keep to ask it.
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

        /// Ends what is under way.
        func abandon() {
            pause?.cancel?()
            transfer?.cancel()
        }

        /// - Parameter loaded: what there is if it did not fail.
        func complete(with loaded: LoadedImageData? = nil) {
            if let error { completion?(.failure(error)) }
            if error == nil, let loaded { completion?(.success(loaded)) }
        }
    }

    let core: DownloaderCore
    let url: URL
    let options: WebImageOptions
    let headers: HTTPHeaders
    /// Has the hooks and the retry policy of the load; nil without any, and after the end.
    private var rare: WebImageContext.Rare?
    /// Where events are told, and how many callers there are is asked.
    private(set) var trace: (any LoadTelling)?
    /// Where what has come so far is left, for previews.
    private(set) var partialData: PartialImageData?
    private(set) var onProgress: (@Sendable (LoadProgress) -> Void)?
    private var completion: Completion?

    var id: UInt64 = 0
    var priority: LoadPriority
    var place = Place.none
    /// The number of the current attempt, 1 for the first; during a pause of the next one.
    private(set) var attempt = 1
    /// The current attempt; nil until it is sent, so that a download in the queue takes little memory.
    private(set) var transfer: DownloadTransfer?
    package private(set) lazy var course = Course()
    /// Whether the first attempt was begun.
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
        rare = request.context?.rare
        trace = request.trace
        partialData = request.partialData
        priority = request.priority
        onProgress = progress
        self.completion = completion
    }

    /// The hooks of the load, in place of the downloader's own.
    var hooks: DownloadTransferHooks { rare?.values.hooks ?? DownloadTransferHooks() }
    /// The load's own policy.
    var retryPolicy: DownloadRetryPolicy? { rare?.values.retryPolicy }

    // MARK: Its operation

    package var isCancelled: Bool { core.state.withLock { _ in wasCancelled } }

    package func cancel() { core.cancel(self) }

    package func setPriority(_ priority: LoadPriority) { core.state.withLock { $0.setPriority(priority, of: self) } }

    /// What is known of it so far.
    package func facts<Value>(_ path: KeyPath<DownloadRecord, Value>) -> Value {
        core.state.withLock { _ in self[keyPath: path] }
    }

    /// Whether it neither runs nor waits in the queue, and will wait again.
    var isParked: Bool {
        if case .parked = place { return true }
        return false
    }

    // MARK: Attempts

    /// The present attempt, to be begun; it counts as sent.
    func send(_ plan: DownloadTransfer.Plan) -> DownloadTransfer {
        let transfer = DownloadTransfer(self, attempt: attempt, former: course.former, plan: plan)
        self.transfer = transfer
        course.former = nil
        return transfer
    }

    /// When all attempts together must be over, on the monotonic clock; nil where nothing bounds them.
    func deadline(_ policy: SourcePolicy) -> UInt64? {
        guard !policy.isTrusted, policy.maximumDuration > 0, let startedAt = course.startedAt else { return nil }
        return startedAt.adding(clamped: TransferTimer.nanoseconds(policy.maximumDuration))
    }

    /// Puts the next attempt in place of the present one, which has ended.
    func beginNextAttempt(now: UInt64) {
        attempt += 1
        // An attempt that was not begun, because its host is left alone, has not looked at what there was.
        if let transfer { course.former = transfer.leftover }
        transfer = nil
        (course.progress, course.request, course.response) = (nil, nil, nil)
        course.meter = BandwidthMeter()
        course.resumedByteCount = 0
        pause = Pause(since: now)
    }

    /// The last attempt's metrics, with what is known of those before.
    func completed(_ metrics: DownloadMetrics) -> DownloadMetrics {
        var metrics = metrics
        metrics.attemptCount = attempt
        metrics.waitedForRetry = Double(course.paused) / 1e9
        return metrics
    }

    /// Notes the end of a download that is out of the table.
    func end(_ error: WebImageError?, _ metrics: DownloadMetrics?) -> Remains {
        wasCancelled = error?.code == .cancelled
        if let metrics { course.metrics = metrics }
        return Remains(self, error)
    }

    // MARK: What others are told

    /// Leaves an event for those who want to know, who are to be told in order and once the lock is given back: by the mailbox.
    func leave(_ event: @autoclosure () -> WebImageLoadEvent.Kind) -> CallbackMailbox? {
        guard let trace, trace.isActive else { return nil }
        let mailbox = events ?? CallbackMailbox(.inline)
        events = mailbox
        let event = event()
        mailbox.append { if trace.isActive { trace.send(event) } }
        return mailbox
    }

    /// The download at the time of an event.
    var info: DownloadInfo {
        DownloadInfo(
            id: id,
            url: url,
            callerCount: trace?.callerCount ?? 1,
            attempt: pause?.isForHost ?? true ? attempt : attempt - 1
        )
    }
}
