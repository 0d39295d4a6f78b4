import FoundationEssentials

/// One load: delivers a usable image from memory, otherwise starts the work for the image and delivers its results.
struct ManagedLoad: Sendable {
    /// The kind of a load.
    enum Kind {
        case image
        /// The original bytes.
        case data
        /// The original bytes, only stored on disk.
        case store
        /// The image as encoded bytes.
        case encoded(ImageEncoding)

        /// True if the result is an image, and not the bytes of the original.
        var isOfImage: Bool {
            switch self {
            case .image, .encoded: true
            case .data, .store: false
            }
        }
    }

    let manager: WebImageManager
    let operation: WebImageLoadOperation
    let url: URL
    let load: ResolvedLoad
    /// Nil if the key filter returned none.
    let originalKey: String?
    /// Empty if the key filter returned none.
    let resultKey: String
    let progress: (@Sendable (LoadProgress) -> Void)?
    /// The result of the memory lookup.
    private(set) var lookup = MemoryLookup.missed(.notAsked)

    private var options: WebImageOptions { load.options }
    private var cache: any ImageCaching { manager.cache(for: load) }
    private var originalCache: any ImageCaching { manager.originalCache(for: load) }

    mutating func start(as kind: Kind) {
        operation.observation?.noteStart(cacheKey: resultKey)
        switch kind {
        case .image:
            lookup = manager.lookUp(resultKey, of: originalKey, load)
            startImage()
        case .data: startData()
        case .store: startStoring()
        case .encoded(let encoding): startEncoded(encoding)
        }
    }

    private func startImage() {
        let terms = originalKey == nil ? nil : manager.revalidation(url, load)
        guard let terms else {
            manager.note(lookup, forKey: resultKey, operation)
            if let hit = lookup.hit, deliver(hit) { return }
            let plan = plan(nil)
            guard options.contains(.queryDiskDataSync),
                let image = imageFromDiskSync(plan)
            else {
                deliverPreview(for: plan)
                // The completion may have cancelled the load.
                if operation.isRunning { delivery(plan).beginAsking(progress) }
                return
            }
            return delivery(plan).finish(.success(.image(image)))
        }
        if terms.asksAlways { refresh(plan(terms)) } else { judge(terms) }
    }

    func plan(_ terms: LoadPlan.Revalidation?, asksDelegate: Bool = false) -> LoadPlan {
        manager.plan(
            url: url,
            originalKey: originalKey,
            resultKey: originalKey == nil ? nil : resultKey,
            load,
            revalidation: terms,
            permission: terms == nil && !asksDelegate ? nil : manager.permission(for: url, operation)
        )
    }

    /// Returns the cached "not found" answer of the server, if it has not expired and applies to this load.
    func knownMissing(_ terms: LoadPlan.Revalidation?) -> WebImageError? {
        guard terms?.policy == .http, terms?.asksAlways == false, !options.contains(.fromCacheOnly) else { return nil }
        return manager.knownMissing(missingRequest)
    }

    var missingRequest: MissingRequest { .init(url: url, headers: load.context.additionalHeaders) }

    private func delivery(_ plan: LoadPlan) -> LoadDelivery {
        LoadDelivery(manager: manager, operation: operation, plan: plan, options: options, lookup: lookup)
    }

    private func imageFromDiskSync(_ plan: LoadPlan) -> PipelineImage? {
        plan.imageFromDiskSync(for: operation, LoadTrace(operation.observation, of: manager.pipeline))
    }

    // MARK: Available immediately

    /// Delivers the cached image before the loader is asked for a newer one.
    private func refresh(_ plan: LoadPlan) {
        var image = lookup.hit.map { PipelineImage(image: $0.image, source: .memory) }
        if image == nil, options.contains(.queryDiskDataSync) {
            image = imageFromDiskSync(plan.cached)
        }
        guard let image else {
            deliverPreview(for: plan)
            if operation.isRunning { delivery(plan).begin(progress) }
            return
        }
        if lookup.hit != nil { operation.observation?.note(.memoryHit(key: resultKey)) }
        delivery(plan).noteCached(image)
        let result = WebImageResult(image, url: url, key: resultKey)
        guard plan.mayAskLoader else { return operation.end(.success(result)) }
        operation.deliver(result.asInterim)
        // The completion may have cancelled the load.
        if operation.isRunning { delivery(plan.shown).begin(progress) }
    }

    /// Delivers the cached image if it is known to be usable without asking the server; otherwise starts the work that decides
    /// it.
    private func judge(_ terms: LoadPlan.Revalidation) {
        if let error = knownMissing(terms) { return operation.end(.failure(error)) }
        var terms = terms
        var known = originalCache.knownValidators(forKey: originalKey ?? "")
        if known == nil, let derived = DerivedValidators(lookup.hit?.image, of: cache, resultKey) {
            terms.derived = Boxed(derived)
            known = derived.known
        }
        if known == nil, options.contains(.queryDiskDataSync) { known = knownOnDisk(&terms) }
        terms.isInMemory = known == nil && lookup.hit != nil
        let rule = StorageRule(policy: terms.policy, request: terms.request, clock: manager.clock)
        guard known != nil || terms.isInMemory,
            case .hit(let answer) = rule.decision(for: known, isStored: true)
        else { return delivery(plan(terms)).begin(progress) }
        let status = CacheStatus(known: known, isStale: answer.isStale)
        let noteVerdict = {
            if let verdict = CacheVerdict(.hit(answer)) { operation.observation?.note(.judged(verdict)) }
        }
        if let hit = lookup.hit, hit.image.mayBeMade(of: status.contentHash), !readsDataLater(of: hit) {
            noteVerdict()
            manager.note(lookup, forKey: resultKey, operation)
            _ = deliver(hit, status)
            return
        }
        let plan = plan(terms)
        if options.contains(.queryDiskDataSync), lookup.hit == nil,
            let image = imageFromDiskSync(plan.cached),
            image.image.mayBeMade(of: status.contentHash)
        {
            noteVerdict()
            delivery(plan).finish(.success(.image(image.with(status))))
        } else {
            deliverPreview(for: plan, madeOf: status.contentHash)
            if operation.isRunning { delivery(plan).begin(progress) }
        }
    }

    /// Reads the validators on the caller's thread.
    private func knownOnDisk(_ terms: inout LoadPlan.Revalidation) -> CachedValidators? {
        guard let originalKey else { return nil }
        if let known = originalCache.validatorsSync(forKey: originalKey) { return known }
        guard resultKey != originalKey || cache !== originalCache,
            let known = cache.validatorsSync(forKey: resultKey)
        else { return nil }
        terms.derived = DerivedValidators(known, lookup.hit?.image, of: cache, resultKey).map { Boxed($0) }
        return known
    }

    /// Delivers an image from memory, unless its bytes have to be read in the background.
    private func deliver(_ hit: MemoryHit, _ status: CacheStatus? = nil) -> Bool {
        guard !readsDataLater(of: hit) else { return false }
        var (image, data): (Image, Data?) = (hit.image, nil)
        if readsData(of: hit) { (image, data) = withDataNow(hit) }
        var result = WebImageResult(image: image, data: data, cacheType: .memory, url: url, cacheKey: resultKey)
        if let status { result = result.with(status, now: manager.clock.wallTime()) }
        operation.end(.success(result))
        return true
    }

    // MARK: Encoded bytes of images from memory

    private func readsData(of hit: MemoryHit) -> Bool {
        // A byte limit made the image differ from its bytes, and a load that may only query memory reads no disk.
        options.contains(.queryMemoryData) && hit.image.metadata.scaleDownLimitBytes == 0
            && load.context.queryCacheType?.includesDisk ?? true
    }

    private func readsDataLater(of hit: MemoryHit) -> Bool {
        readsData(of: hit) && !options.contains(.queryMemoryDataSync)
    }

    /// Reads the bytes on this thread. If something is stored meanwhile, it reads once more, as ``ResultWork`` does.
    private func withDataNow(_ hit: MemoryHit) -> (Image, Data?) {
        var hit = hit
        let isOriginal = resultKey == originalKey
        for _ in 0..<2 {
            let entry = cache.diskEntry(forKey: resultKey)
            guard let now = manager.lookUp(resultKey, of: originalKey, load).hit else { break }
            guard now.cached !== hit.cached else {
                let belongs = entry?.mayBelong(to: hit.cached, isOriginal: isOriginal) ?? false
                return (hit.image, belongs ? entry?.data : nil)
            }
            hit = now
        }
        return (hit.image, nil)
    }
}
