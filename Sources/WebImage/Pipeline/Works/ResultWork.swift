/// Gets the image that callers asked for: from the caches under its own key, else made from the original; and stores it.
struct ResultWork: Work {
    let recipe: LoadRecipe

    var key: WorkKey {
        .result(
            WorkKey.ResultKey(
                decode: recipe.decode.decodeKey,
                chain: recipe.chain.map(\.transformerKey),
                gate: recipe.gate,
                cacheKey: recipe.cacheKey,
                cache: ObjectIdentifier(recipe.cache),
                queriesMemory: recipe.queriesMemory,
                queriesDisk: recipe.queriesDisk,
                queriesOriginalMemory: recipe.queriesOriginalMemory,
                store: recipe.store,
                storesOriginalInMemory: recipe.storesOriginalInMemory,
                encodeOptions: recipe.encodeOptions,
                serializer: recipe.serializer.map { ObjectIdentifier($0) },
                replaces: recipe.replaces
            )
        )
    }

    func start(_ job: WorkJob) {
        // Between the caller's look into memory and now, another load may have put the image there.
        if let hit = recipe.memoryHit() {
            job.note(.memoryHit(key: hit.cacheKey ?? recipe.cacheKey ?? ""))
            return job.finish(.success(.image(hit)))
        }
        guard recipe.queriesDerivedDisk, let cacheKey = recipe.cacheKey else { return make(job) }
        job.require(DiskReadWork(cache: recipe.cache, cacheKey: cacheKey)) { result in
            if case .success(.diskEntry(let entry?)) = result { decodeDerived(entry, job) } else { make(job) }
        }
    }

    /// Decodes what was stored under the result's own key; if that is no picture, makes the result anew.
    private func decodeDerived(_ entry: CachedImageData, _ job: WorkJob) {
        job.note(.queued(.decode))
        let budget = job.pipeline.budget
        let demand = MemoryDemand.decode(entry.data, recipe.decode.coder, recipe.derivedOptions)
        let item = job.pipeline.decodeQueue.submit(demand, to: budget, priority: job.priority) { admission in
            job.ending {
                guard !job.isCancelled else { return nil }
                if case .failure(let error) = admission, error.isOfMemoryBudget {
                    job.finish(.failure(error.with(url: recipe.url)))
                } else if let admission = try? admission.get(),
                    var image = recipe.decodeDerived(entry, admission, job.trace)
                {
                    image.room = admission.made(image.image, in: budget)
                    if !job.isCancelled { job.finish(.success(.image(recipe.storedInMemory(image, job.trace)))) }
                    return image.room
                } else {
                    job.note(.diskMissed(key: recipe.cacheKey ?? "", .damaged))
                    make(job)
                }
                return nil
            }
        }
        job.hold(WorkJob.Handle(cancel: { item.cancel() }, setPriority: { item.setPriority($0) }))
    }

    private func make(_ job: WorkJob) {
        if let original = recipe.originalMemoryHit() {
            job.note(.memoryHit(key: recipe.originalKey ?? ""))
            job.note(.queued(.transform))
            return job.transform(original.image, by: PipelineTransformer(recipe.chain)) { () throws(WebImageError) in
                try recipe.transformed(original, job.trace)
            } then: {
                recipe.stored($0, job.trace)
            }
        }
        let input: any Work =
            recipe.chain.isEmpty
            ? recipe.decode
            : TransformWork(decode: recipe.decode, chain: recipe.chain, gate: recipe.gate, memory: recipe.prefixMemory)
        var previews: (@Sendable (Image) -> Void)?
        if recipe.decode.isProgressive { previews = { job.preview($0) } }
        job.require(input, preview: previews) { result in
            job.finish(
                result.map { output in
                    guard case .image(let image) = output else { return output }
                    return .image(recipe.stored(image, job.trace))
                }
            )
        }
    }
}
