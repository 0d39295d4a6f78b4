/// Reads an entry of a disk cache, once for all concurrent requests (single flight).
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
        job.hold(operation)
    }
}

extension DiskReadWork {
    /// Creates the read of a key's entry.
    init(cache: any ImageCaching, cacheKey: String) {
        self.init(plan: Boxed(LoadPlan.DiskEntry(cache: cache, cacheKey: cacheKey)))
    }
}
