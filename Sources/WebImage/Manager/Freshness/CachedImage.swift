import FoundationEssentials

/// What the caches have for one load.
struct CachedImage: Sendable {
    let manager: WebImageManager
    let operation: WebImageLoadOperation
    let url: URL
    let originalKey: String
    let resultKey: String
    var options: WebImageOptions
    let context: WebImageContext?

    /// The cache of the result, and that of the original.
    var cache: any ImageCaching { context?.imageCache ?? manager.imageCache }
    var originalCache: any ImageCaching { context?.originalImageCache ?? cache }

    /// What lies in memory.
    var memory: MemoryLookup { manager.lookUp(resultKey, of: originalKey, options: options, context: context) }

    /// Finds it, and tells, once: nil when there is nothing of use, of which nothing is noted.
    ///
    /// - Parameters:
    ///   - hash: the XXH3 of the bytes that count as the picture; what was made of others is made anew. Nil to take what is there.
    ///   - lookup: what lies in memory.
    func find(
        madeOf hash: UInt64?,
        _ lookup: MemoryLookup,
        then: @escaping @Sendable (WebImageResult?) -> Void
    ) {
        if let hit = lookup.hit {
            guard hit.image.mayBeMade(of: hash) else { return renew(madeOf: hash, then) }
            manager.note(lookup, forKey: resultKey, operation)
            return then(.fromMemory(hit.image, url: url, key: resultKey))
        }
        let plan = plan(for: .picture)
        if options.contains(.queryDiskDataSync),
            let image = plan.imageFromDiskSync(for: operation, manager.trace(of: operation)),
            image.image.mayBeMade(of: hash)
        {
            manager.note(lookup, forKey: resultKey, operation)
            manager.totals.disk.hits.add()
            return then(WebImageResult(image, url: url, key: resultKey))
        }
        operation.subscribe(to: ResultWork(plan: plan), priority: options.loadPriority, progress: nil) { result in
            guard case .success(.image(let image)) = result else { return then(nil) }
            guard image.image.mayBeMade(of: hash) else { return renew(madeOf: hash, then) }
            manager.note(lookup, forKey: resultKey, operation)
            manager.totals.noteDisk(result, wasAsked: true)
            then(WebImageResult(image, url: url, key: resultKey))
        }
    }

    /// Makes it anew of the original on disk, because what was made of it before is out of date.
    private func renew(madeOf hash: UInt64?, _ then: @escaping @Sendable (WebImageResult?) -> Void) {
        let work = ResultWork(plan: plan(for: .renewal))
        operation.subscribe(to: work, priority: options.loadPriority, progress: nil) { result in
            // What lies on disk may be older than what is known of it, if something newer could not be written.
            guard case .success(.image(let image)) = result, image.image.mayBeMade(of: hash) else { return then(nil) }
            // What lay in memory was of no use.
            manager.note(.missed(.absent), forKey: resultKey, operation)
            manager.totals.noteDisk(result, wasAsked: true)
            then(WebImageResult(image, url: url, key: resultKey))
        }
    }

    /// How it is got from the caches alone.
    private func plan(for purpose: LoadPurpose) -> LoadPlan { plan(for: purpose, options.union(.fromCacheOnly)) }

    /// - Parameter derived: what is known of an original that is not kept.
    func plan(
        for purpose: LoadPurpose,
        _ options: WebImageOptions,
        derived: SourceContent? = nil
    ) -> LoadPlan {
        manager.plan(
            url: url,
            originalKey: originalKey,
            resultKey: resultKey,
            options: options,
            context: context,
            purpose: purpose,
            derived: derived
        )
    }
}

extension Image {
    /// Whether an image can be made of the bytes with this hash: false when both are known and differ.
    func mayBeMade(of hash: UInt64?) -> Bool {
        guard let hash, hash != 0, metadata.sourceHash != 0 else { return true }
        return metadata.sourceHash == hash
    }
}
