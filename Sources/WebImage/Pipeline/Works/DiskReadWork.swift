/// Reads an entry of a disk cache, once for all who ask at the same time.
struct DiskReadWork: Work {
    let plan: Boxed<LoadPlan.DiskEntry>

    var cache: any ImageCaching { plan.value.cache.value }
    var cacheKey: String { plan.value.cacheKey }

    var key: WorkKey { .diskRead(plan) }

    func start(_ job: WorkJob) {
        job.note(.queued(.disk))
        let operation = cache.queryDisk(forKey: cacheKey, priority: job.priority) { entry in
            job.note(
                entry.map { .diskHit(key: cacheKey, byteCount: $0.data.count) } ?? .diskMissed(key: cacheKey, .absent)
            )
            job.finish(.success(.diskEntry(entry)))
        }
        job.hold(CacheOperation(operation))
    }
}

/// A query of a cache, which may have a priority.
struct CacheOperation: RunningWork {
    private let operation: any WebImageOperation

    init(_ operation: any WebImageOperation) { self.operation = operation }

    func cancel() { operation.cancel() }
    func setPriority(_ priority: LoadPriority) { (operation as? any ImageLoaderOperation)?.setPriority(priority) }
}

extension DiskReadWork {
    /// Reading the entry of a key.
    init(cache: any ImageCaching, cacheKey: String) {
        self.init(plan: Boxed(LoadPlan.DiskEntry(cache: cache, cacheKey: cacheKey)))
    }
}
