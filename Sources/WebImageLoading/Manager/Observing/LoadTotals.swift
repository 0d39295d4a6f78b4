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
    let memory = Tier()
    let disk = Tier()

    /// Counts the end of a load; nil for one that delivered.
    func noteEnd(_ error: WebImageError?) {
        (error == nil ? delivered : error?.code == .cancelled ? cancelled : failed).add()
    }

    /// A load that looked on disk, or might have, has what it wanted, or not. One that found it in memory after all says
    /// nothing about the disk, and one that was cancelled neither.
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
    /// Whether the disk is looked at for the result or for the original.
    var asksDisk: Bool { queriesDerivedDisk || decode.original.queriesDisk }
}

extension WebImageManager {
    /// Counts a look into memory, and tells of it.
    func note(_ lookup: MemoryLookup, forKey key: String, _ operation: WebImageLoadOperation) {
        switch lookup {
        case .found:
            totals.memory.hits.add()
            operation.observation?.note(.memoryHit(key: key))
        case .missed(let reason):
            switch reason {
            case .absent, .otherByteLimit, .firstFrameAlone: totals.memory.misses.add()
            case .notAsked, .noKey, .damaged, .refused: break
            }
            operation.observation?.note(.memoryMissed(reason))
        }
    }
}
