/// Gets the requested image, from the caches under its own key or else made from the original, and stores it.
struct ResultWork: Work {
    let plan: LoadPlan

    var key: WorkKey { .result(plan.result) }

    func start(_ job: WorkJob) {
        guard plan.terms == nil else { return RevalidatedResult(plan, job).start() }
        // Another load may have stored the image in memory since the caller's lookup.
        if let hit = plan.memoryHit() {
            job.note(.memoryHit(key: hit.cacheKey ?? plan.cacheKey ?? ""))
            return plan.result.value.readsMemoryData ? readData(of: hit, job) : job.finish(.success(.image(hit)))
        }
        guard plan.queriesDerivedDisk, let cacheKey = plan.cacheKey else { return make(job) }
        let scope = plan.decode.original.plan.value.sharingScope
        let isShared = scope != nil && plan.mayShareResult
        if isShared { job.hold(job.pipeline.sharedLoads.load(of: cacheKey, in: plan.cache, scope: scope)) }
        let read = DiskReadWork(
            cache: plan.cache,
            cacheKey: cacheKey,
            sharingScope: scope,
            isFollowedByLoad: isShared
        )
        job.require(read) { result in
            if case .success(.diskEntry(let entry?)) = result { decodeDerived(entry, job) } else { make(job) }
        }
    }

    /// Gets the encoded bytes of an image in memory from disk.
    ///
    /// Image and bytes are looked up one after the other, and something may be stored in between. So memory is queried again after the
    /// bytes are read: they are delivered only if the same image is in memory before and after.
    private func readData(of hit: PipelineImage, isSecond: Bool = false, _ job: WorkJob) {
        guard let cacheKey = plan.cacheKey, let cached = plan.cache.memoryImage(forKey: cacheKey),
            cached.metadata.scaleDownLimitBytes == 0
        else { return job.finish(.success(.image(hit))) }
        job.require(DiskReadWork(cache: plan.cache, cacheKey: cacheKey)) { result in
            var image = hit
            if plan.cache.memoryImage(forKey: cacheKey) === cached {
                if case .success(.diskEntry(let entry)) = result { image.data = plan.data(of: entry, for: cached) }
            } else if let now = plan.memoryHit() {
                if !isSecond { return readData(of: now, isSecond: true, job) }
                image = now
            }
            job.finish(.success(.image(image)))
        }
    }

    /// Decodes an entry stored under the result's own key; if it is invalid, makes the result again.
    private func decodeDerived(_ entry: CachedImageData, _ job: WorkJob) {
        job.note(.queued(.decode))
        job.perform(.decode(entry.data, plan.decode.coder, plan.derivedOptions)) { given in
            guard !job.isCancelled else { return }
            if case .failure(let error) = given, error.isOfMemoryBudget {
                job.finish(.failure(error.with(url: plan.url)))
            } else if case .success(let options) = given, let image = plan.decodeDerived(entry, options, job.trace) {
                if !job.isCancelled { job.finish(.success(.image(plan.storedInMemory(image, job.trace)))) }
            } else {
                job.note(.diskMissed(key: plan.cacheKey ?? "", .damaged))
                make(job)
            }
        }
    }

    /// Makes the result from an image of another size, or else from the original.
    func make(_ job: WorkJob, usesVariants: Bool = true) {
        if usesVariants, let scaling = plan.scaling() { return scale(scaling, job) }
        if let original = plan.originalMemoryHit() {
            job.note(.memoryHit(key: plan.originalKey ?? ""))
            job.note(.queued(.transform))
            return job.transform(original.image, by: plan.chain.whole) { () throws(WebImageError) in
                try plan.transformed(original, job.trace)
            } then: {
                plan.stored($0, job.trace)
            }
        }
        if usesVariants, plan.result.value.readsVariants { return useStoredVariants(job) }
        makeFromOriginal(job)
    }

    func makeFromOriginal(_ job: WorkJob) {
        job.require(plan.chain.isEmpty ? plan.decode : plan.transform) { result in
            job.finish(
                result.map { output in
                    guard case .image(let image) = output else { return output }
                    return .image(plan.stored(image, job.trace))
                }
            )
        }
    }
}
