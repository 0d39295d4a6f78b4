/// An event of shared work, and its time.
struct WorkNote: Sendable {
    let kind: WebImageLoadEvent.Kind
    /// A time of the pipeline's clock.
    let time: UInt64

    init(_ kind: WebImageLoadEvent.Kind, at time: UInt64) {
        self.kind = kind
        self.time = time
    }
}

/// The destination of events: all loads subscribed to a piece of shared work, or one load.
///
/// While no load of the pipeline is observed, no event is created and no clock is read: reporting costs reading one counter.
struct LoadTrace: LoadEventSink {
    let pipeline: Pipeline
    /// The job whose subscribers are all notified; nil for one load.
    private let job: WorkJob?
    private let observation: LoadObservation?

    /// Reports to all subscribers of a job.
    init(_ job: WorkJob) { (pipeline, self.job, observation) = (job.pipeline, job, nil) }

    /// Reports to one load, if it is observed.
    init(_ observation: LoadObservation?, of pipeline: Pipeline) {
        (self.pipeline, job, self.observation) = (pipeline, nil, observation)
    }

    /// True if any load is observed.
    @inline(__always)
    var isActive: Bool { pipeline.isObserved }

    /// The number of callers notified.
    var callerCount: Int { job.map { pipeline.callerCount(of: $0) } ?? 1 }

    /// Keeps a job's running download, for callers that query its record.
    func hold(_ download: any ImageLoaderOperation) {
        if let record = download as? DownloadRecord { job?.hold(record) }
    }

    /// Counts a retry of a download.
    func countRetry() { pipeline.totals.retries.add() }

    /// The time of the pipeline's clock; 0 if no load is observed.
    var now: UInt64 { isActive ? pipeline.clock.monotonicNanoseconds() : 0 }

    /// Returns the nanoseconds since `start`; 0 if no load was observed then.
    func elapsed(since start: UInt64) -> UInt64 {
        let now = start == 0 ? 0 : now
        return now > start ? now - start : 0
    }

    /// Reports an event.
    @inline(__always)
    func note(_ kind: @autoclosure () -> WebImageLoadEvent.Kind) {
        if isActive { send(kind()) }
    }

    /// Reports an event, whether a load is observed or not.
    @inline(never)
    func send(_ kind: WebImageLoadEvent.Kind) {
        if let job { pipeline.note(kind, of: job) } else { observation?.note(kind) }
    }
}

extension WorkJob {
    /// The trace that reports to all observed loads subscribed to this job.
    var trace: LoadTrace { LoadTrace(self) }

    /// Reports an event to all observed loads subscribed to this job.
    @inline(__always)
    func note(_ kind: @autoclosure () -> WebImageLoadEvent.Kind) {
        if pipeline.isObserved { pipeline.note(kind(), of: self) }
    }
}

extension LoadTrace {
    /// Performs a decode of a number of bytes, counts it and reports it.
    func decoding(
        _ byteCount: Int,
        _ body: () throws(WebImageError) -> PipelineImage
    ) throws(WebImageError) -> PipelineImage {
        let start = now
        let result = try body()
        let (width, height) = (result.image.pixelWidth, result.image.pixelHeight)
        pipeline.totals.noteDecode(pixelCount: width * height)
        let nanoseconds = elapsed(since: start)
        note(.decoded(width: width, height: height, fromByteCount: byteCount, nanoseconds: nanoseconds))
        return result
    }

    /// Applies a transformer and reports it.
    func transforming(_ input: PipelineImage, by transformer: any ImageTransformer) throws(WebImageError)
        -> PipelineImage
    {
        let start = now
        let result = try input.transformed(by: transformer)
        note(.transformed(key: transformer.transformerKey, nanoseconds: elapsed(since: start)))
        return result
    }

    /// Reports that the original bytes are being stored on disk, if they are.
    func noteStore(of original: OriginalData, by work: OriginalWork) {
        guard work.storesDisk, let key = work.cacheKey else { return }
        pipeline.totals.storedByteCount.add(original.entry.data.count)
        note(.stored(key: key, .disk))
    }
}

extension WorkKey {
    /// The stage that another load joining this work shares.
    var stage: WebImageLoadEvent.Stage {
        switch self {
        case .diskRead: .disk
        case .fetch: .download
        case .revalidation, .original, .store: .data
        case .decode, .entryImage: .decode
        case .transform: .transform
        case .result, .encoded: .image
        }
    }
}
