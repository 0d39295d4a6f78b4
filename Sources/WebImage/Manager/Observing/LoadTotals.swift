import FoundationEssentials

/// What a manager's loads have come to: plain counters that are added to without a lock.
final class LoadTotals: Sendable {
    /// Looks into a level of the caches.
    struct Tier: Sendable {
        let hits = Counter()
        let misses = Counter()
    }

    /// Images that the async forms found in memory: loads that are over before they have begun, counted by one addition.
    let directHits = Counter()
    let delivered = Counter()
    let failed = Counter()
    let cancelled = Counter()
    /// Loads under way that are none of ``WebImageLoadOperation``; those are in the manager's list.
    let runningOthers = Counter()
    let memory = Tier()
    let disk = Tier()

    func noteEnd(of result: Result<WebImageResult, WebImageError>) {
        switch result {
        case .success: delivered.add()
        case .failure(let error): noteEnd(error: error)
        }
    }

    func noteEnd(error: WebImageError) { (error.code == .cancelled ? cancelled : failed).add() }

    /// A load that looked on disk, or might have, has what it wanted, or not. One that found it in memory after all says
    /// nothing about the disk, and one that was cancelled neither.
    func noteDisk(_ result: WorkResult, wasAsked: Bool) {
        guard wasAsked else { return }
        switch result {
        case .success(.image(let image)): noteDisk(image.source)
        case .success(.data(let original)): noteDisk(original.source)
        case .failure(let error) where error.code == .cancelled: break
        case .success, .failure: disk.misses.add()
        }
    }

    private func noteDisk(_ source: ImageCacheType) {
        switch source {
        case .disk: disk.hits.add()
        case .none: disk.misses.add()
        case .memory, .all: break
        }
    }
}

/// A load that is none of ``WebImageLoadOperation``: counted and observed from its beginning to its one end.
final class LoadAccount: Sendable {
    /// Nil when nobody observes the load.
    let observation: LoadObservation?
    private let totals: LoadTotals
    private let isOver = Lock(false)

    init(_ load: ResolvedLoad, url: URL, manager: WebImageManager) {
        observation = LoadObservation(load, url: url, pipeline: manager.pipeline)
        totals = manager.totals
        totals.runningOthers.add()
    }

    /// Counts and tells the end, the first time.
    func end(_ kind: WebImageLoadEvent.Kind) {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return }
        totals.runningOthers.add(-1)
        switch kind {
        case .failed: totals.failed.add()
        case .cancelled: totals.cancelled.add()
        default: totals.delivered.add()
        }
        observation?.end(kind)
    }
}

extension LoadPlan {
    /// Whether the disk is looked at for the result or for the original.
    var asksDisk: Bool { queriesDerivedDisk || decode.original.queriesDisk }
}

extension WebImageManager {
    /// Counts a look into memory, and tells of it.
    func note(_ lookup: MemoryLookup, forKey key: String, _ operation: WebImageLoadOperation) {
        switch lookup {
        case .found: totals.memory.hits.add()
        case .missed(.absent), .missed(.otherByteLimit), .missed(.firstFrameAlone): totals.memory.misses.add()
        case .missed: break
        }
        guard let observation = operation.observation else { return }
        switch lookup {
        case .found: observation.note(.memoryHit(key: key))
        case .missed(let reason): observation.note(.memoryMissed(reason))
        }
    }

    /// Where is told what a load does for itself.
    func trace(of operation: WebImageLoadOperation) -> LoadTrace { LoadTrace(operation.observation, of: pipeline) }
}
