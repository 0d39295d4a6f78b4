/// Reads an entry of a disk cache, once for all concurrent requests (single flight).
struct DiskReadWork: Work {
    let plan: Boxed<LoadPlan.DiskEntry>

    var cache: any ImageCaching { plan.value.cache.value }
    var cacheKey: String { plan.value.cacheKey }

    var key: WorkKey { .diskRead(plan) }

    func start(_ job: WorkJob) {
        job.note(.queued(.disk))
        let operation = cache.queryDisk(plan.value.query(job.priority)) { entry in
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
    ///
    /// - Parameters:
    ///   - sharingScope: The group of loads on all machines that may share it; nil for none.
    ///   - isFollowedByLoad: True if the loader is asked if there is none.
    init(cache: any ImageCaching, cacheKey: String, sharingScope: String? = nil, isFollowedByLoad: Bool = false) {
        let entry = LoadPlan.DiskEntry(
            cache: cache,
            cacheKey: cacheKey,
            sharingScope: sharingScope,
            isFollowedByLoad: isFollowedByLoad
        )
        self.init(plan: Boxed(entry))
    }
}
