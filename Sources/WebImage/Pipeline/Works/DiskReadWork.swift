/// Reads an entry of a disk cache, once for all who ask at the same time.
struct DiskReadWork: Work {
    let cache: any ImageCaching
    let cacheKey: String

    var key: WorkKey { .diskRead(cache: ObjectIdentifier(cache), key: cacheKey) }

    func start(_ job: WorkJob) {
        job.note(.queued(.disk))
        let operation = cache.queryDisk(forKey: cacheKey, priority: job.priority) { entry in
            job.note(
                entry.map { .diskHit(key: cacheKey, byteCount: $0.data.count) } ?? .diskMissed(key: cacheKey, .absent)
            )
            job.finish(.success(.diskEntry(entry)))
        }
        job.hold(
            WorkJob.Handle(
                cancel: { operation.cancel() },
                setPriority: { (operation as? any ImageLoaderOperation)?.setPriority($0) }
            )
        )
    }
}
