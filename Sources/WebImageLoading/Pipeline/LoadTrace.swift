/// Something that happened to shared work, and when.
struct WorkNote: Sendable {
    let kind: WebImageLoadEvent.Kind
    /// By the pipeline's clock.
    let time: UInt64

    init(_ kind: WebImageLoadEvent.Kind, at time: UInt64) {
        self.kind = kind
        self.time = time
    }
}

/// Where something that happens in loads is told: to all loads that wait for a piece of shared work, or to one load.
///
/// While nobody observes any load of the pipeline, an event is not made and no clock is read: telling costs a look at a number.
struct LoadTrace: LoadTelling {
    let pipeline: Pipeline
    /// Whose callers are all told; nil for those of one load.
    private let job: WorkJob?
    private let observation: LoadObservation?

    /// To all that wait for a job.
    init(_ job: WorkJob) { (pipeline, self.job, observation) = (job.pipeline, job, nil) }

    /// To one load, if it is observed.
    init(_ observation: LoadObservation?, of pipeline: Pipeline) {
        (self.pipeline, job, self.observation) = (pipeline, nil, observation)
    }

    /// Whether it is worth while to make events.
    @inline(__always)
    var isActive: Bool { pipeline.isObserved }

    /// Callers whom it concerns.
    var callerCount: Int { job.map { pipeline.callerCount(of: $0) } ?? 1 }

    /// Keeps a download that a job has under way, for callers that ask for what is known of it.
    func hold(_ download: any ImageLoaderOperation) {
        if let record = download as? DownloadRecord { job?.hold(record) }
    }

    /// Counts another attempt of a download.
    func countRetry() { pipeline.totals.retries.add() }

    /// The time by the pipeline's clock; 0 when nobody observes.
    var now: UInt64 { isActive ? pipeline.clock.monotonicNanoseconds() : 0 }

    /// Nanoseconds since `start`; 0 when nobody observed then.
    func elapsed(since start: UInt64) -> UInt64 {
        let now = start == 0 ? 0 : now
        return now > start ? now - start : 0
    }

    /// Tells what happened.
    @inline(__always)
    func note(_ kind: @autoclosure () -> WebImageLoadEvent.Kind) {
        if isActive { send(kind()) }
    }

    /// Tells what happened, observed or not.
    @inline(never)
    func send(_ kind: WebImageLoadEvent.Kind) {
        if let job { pipeline.note(kind, of: job) } else { observation?.note(kind) }
    }
}

extension WorkJob {
    /// To the observers of all loads that wait for this job.
    var trace: LoadTrace { LoadTrace(self) }

    /// Tells the observers of all loads that wait for this job what happened.
    @inline(__always)
    func note(_ kind: @autoclosure () -> WebImageLoadEvent.Kind) {
        if pipeline.isObserved { pipeline.note(kind(), of: self) }
    }
}

extension LoadTrace {
    /// Runs a decode of so many bytes, counts it and tells of it.
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

    /// Runs a transformer and tells of it.
    func transforming(_ input: PipelineImage, by transformer: any ImageTransformer) throws(WebImageError)
        -> PipelineImage
    {
        let start = now
        let result = try input.transformed(by: transformer)
        note(.transformed(key: transformer.transformerKey, nanoseconds: elapsed(since: start)))
        return result
    }

    /// Tells that the original bytes of a picture are given to the disk, if they are and that was not done before.
    func noteStore(of original: OriginalData, by work: OriginalWork) {
        guard work.storesDisk, let key = work.cacheKey, original.store?.isPending ?? false else { return }
        pipeline.totals.storedByteCount.add(original.entry.data.count)
        note(.stored(key: key, .disk))
    }
}

extension WorkKey {
    /// What another load that joins this work shares.
    var stage: WebImageLoadEvent.Stage {
        switch self {
        case .diskRead: .disk
        case .fetch: .download
        case .revalidation, .original, .store: .data
        case .decode, .entryImage: .decode
        case .transform: .transform
        case .result: .picture
        }
    }
}
