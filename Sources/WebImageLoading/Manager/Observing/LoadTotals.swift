import FoundationEssentials

/// The counters of a manager's loads, updated without a lock.
final class LoadTotals: Sendable {
    /// The lookups in a cache level.
    struct Tier: Sendable {
        let hits = Counter()
        let misses = Counter()
    }

    /// Images that the async functions found in memory: such loads end before they start and cost one addition.
    let directHits = Counter()
    let delivered = Counter()
    let failed = Counter()
    let cancelled = Counter()
    let memory = Tier()
    let disk = Tier()

    /// Counts the end of a load; nil for success.
    func noteEnd(_ error: WebImageError?) {
        (error == nil ? delivered : error?.code == .cancelled ? cancelled : failed).add()
    }

    /// Counts the disk lookup of a load as a hit or a miss. A load that found its image in memory after all, or was cancelled,
    /// counts as neither.
    func noteDisk(_ result: WorkResult, wasAsked: Bool) {
        guard wasAsked else { return }
        let source: ImageCacheType =
            switch result {
            case .success(.image(let image)): image.source
            case .success(.data(let original)): original.source
            case .failure(let error) where error.code == .cancelled: .memory
            case .success, .failure: .none
            }
        if source == .disk { disk.hits.add() }
        if source == .none { disk.misses.add() }
    }
}

extension LoadPlan {
    /// True if the disk is queried for the result or for the original.
    var asksDisk: Bool { queriesDerivedDisk || decode.original.queriesDisk }
}

extension WebImageManager {
    /// Counts a memory lookup, and notifies the observer.
    func note(_ lookup: MemoryLookup, forKey key: String, _ operation: WebImageLoadOperation) {
        switch lookup {
        case .found:
            totals.memory.hits.add()
            operation.observation?.note(.memoryHit(key: key))
        case .missed(let reason):
            switch reason {
            case .absent, .otherByteLimit, .firstFrameOnly: totals.memory.misses.add()
            case .notAsked, .noKey, .damaged, .refused: break
            }
            operation.observation?.note(.memoryMissed(reason))
        }
    }
}
