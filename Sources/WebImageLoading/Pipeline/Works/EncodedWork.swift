import FoundationEssentials

extension LoadPlan {
    /// The stage that encodes the requested image for clients.
    struct Encoded: Hashable, Sendable {
        let result: Boxed<Result>
        let encoding: Boxed<ImageEncoding>
        /// The key of the encoded bytes on disk, in the result's cache; nil to neither look there nor store.
        let cacheKey: String?
    }
}

/// Gets an image as encoded bytes: from disk if they are fresh, or if the original is confirmed; otherwise from the image, and stores them.
///
/// The bytes are stored with the record of the original's response, so that an entry is fresh exactly as long as the original.
struct EncodedWork: Work {
    let plan: Boxed<LoadPlan.Encoded>

    var key: WorkKey { .encoded(plan) }

    private var load: LoadPlan { LoadPlan(result: plan.value.result) }
    private var encoding: ImageEncoding { plan.value.encoding.value }
    private var cache: any ImageCaching { load.cache }
    private var rule: StorageRule { load.decode.original.rule }
    private var coder: any ImageCoder { load.decode.coder }

    func start(_ job: WorkJob) {
        guard let key = plan.value.cacheKey else { return make(load, job) }
        let scope = load.decode.original.plan.value.sharingScope
        job.require(DiskReadWork(cache: cache, cacheKey: key, sharingScope: scope)) { result in
            guard case .success(.diskEntry(let entry?)) = result, !entry.data.isEmpty else { return make(load, job) }
            guard isFresh(entry) else { return revalidate(entry, key, load, job) }
            finish(entry, entry.validators?.record, job)
        }
    }

    private func isFresh(_ entry: CachedImageData) -> Bool {
        if case .hit = rule.decision(for: CachedValidators(entry), isStored: true) { return true }
        return false
    }

    private func finish(_ entry: CachedImageData, _ record: HTTPCacheRecord?, _ job: WorkJob) {
        let image = EncodedImage(
            data: entry.data,
            hash: entry.dataHash.value,
            record: record,
            source: .disk,
            cacheKey: plan.value.cacheKey
        )
        job.finish(.success(.encoded(image)))
    }

    // MARK: A stale entry

    /// Finds out whether the original that a stale entry was made of is still current. If so, nothing is decoded.
    ///
    /// - Parameter judged: The plan whose original is asked for.
    private func revalidate(_ entry: CachedImageData, _ key: String, _ judged: LoadPlan, _ job: WorkJob) {
        guard let hash = entry.validators?.receivedHash,
            let work = RevalidationWork(plan: judged.decode.original.plan)
        else { return make(load, job) }
        // Encoded images are delivered once, so a stale one is not sent while the loader is asked.
        job.require(work, values: WorkValue.Receiver(kinds: .staleStatus) { _ in }) { result in
            switch result {
            case .success(.revalidated(.current(let status))):
                guard status.contentHash != hash else { return renew(entry, key, status, job) }
                // A load of another size has received a newer original.
                RevalidatedResult(load, job).find(madeOf: status.contentHash) { image in
                    if let image { prepare(image.with(status), load, job) } else { make(load, job) }
                }
            case .success(.revalidated(.newer(let given))): make(load.newer(given), job)
            case .success(.revalidated(.absent)) where judged.terms?.derived == nil:
                // The original is not on disk any more. The entry has its validators, too.
                guard let derived = DerivedValidators(CachedValidators(entry), nil, of: cache, key) else {
                    return make(load, job)
                }
                revalidate(entry, key, load.judged(by: derived), job)
            case .failure(let error): job.finish(.failure(error))
            case .success: make(load, job)
            }
        }
    }

    /// Ends with an entry whose original is current.
    private func renew(_ entry: CachedImageData, _ key: String, _ status: CacheStatus, _ job: WorkJob) {
        let known = status.known?.validators
        if let hash = entry.validators?.receivedHash, var validators = known.with(receivedHash: hash),
            validators != entry.validators
        {
            validators.subject.value = hash
            cache.amend(validators: validators, forKey: key)
        }
        finish(entry, known?.record, job)
    }

    // MARK: A new entry

    private func make(_ load: LoadPlan, _ job: WorkJob) {
        let isRefresh = load.decode.original.plan.value.given != nil
        job.require(ResultWork(plan: load)) { result in
            switch result {
            case .success(.image(let image)): prepare(image, load, job)
            case .success: job.finish(.failure(WebImageError(.badImageData, "there is no image", url: load.url)))
            case .failure(let error): job.finish(.failure(isRefresh ? error.ofRefresh : error))
            }
        }
    }

    /// Encodes an image, after getting the original's bytes if the encoding uses them.
    private func prepare(_ image: PipelineImage, _ load: LoadPlan, _ job: WorkJob) {
        guard encoding.originalUse != nil else { return encode(image, original: nil, job) }
        if let loaded = image.loaded, loaded.image == nil, !loaded.isVideo, !loaded.data.isEmpty {
            return encode(image, original: loaded.data, job)
        }
        // The image was in a cache, and so is the original. The image is of its current version, so nobody is asked about that.
        let original = OriginalWork(plan: load.decode.original.plan.with { $0.revalidation = nil })
        job.require(original.whole) { result in
            switch result {
            case .success(.data(let original)): encode(image, original: original.entry.data, job)
            case .success: job.finish(.failure(WebImageError(.badImageData, "there are no bytes", url: load.url)))
            case .failure(let error): job.finish(.failure(error))
            }
        }
    }

    /// - Parameter original: The original's bytes, if the encoding uses them.
    private func encode(_ image: PipelineImage, original: Data?, _ job: WorkJob) {
        let record = record(of: image)
        // The closure owns the image, and is released before the end.
        let input = Lock<PipelineImage?>(image)
        job.perform(.nothing, after: image.image, on: CodingQueue.shared) { given in
            guard let image = input.withLock({ $0.take() }), !job.isCancelled else { return }
            do throws(WebImageError) {
                _ = try given.get()
                let data = try bytes(of: image.image, original, job)
                guard !job.isCancelled else { return }
                store(data, image, record, job)
                job.finish(
                    .success(
                        .encoded(
                            EncodedImage(
                                data: data,
                                hash: nil,
                                record: record,
                                isStorable: image.isStorable,
                                source: .none,
                                cacheKey: plan.value.cacheKey
                            )
                        )
                    )
                )
            } catch {
                job.finish(.failure(error.with(url: load.url)))
            }
        }
    }

    private func bytes(of image: Image, _ original: Data?, _ job: WorkJob) throws(WebImageError) -> Data {
        let encode = { () throws(WebImageError) -> Data in
            let format = encoding.format(of: image, by: coder)
            let data = try coder.encodeImageOrAnimation(image, to: format, options: encoding.options(for: format))
            if !job.isCancelled { job.pipeline.totals.encodes.add() }
            return data
        }
        guard let use = encoding.originalUse, let original else { return try encode() }
        return try use.body(original, image, encode)
    }

    /// Returns the record of the response that the image was made of.
    private func record(of image: PipelineImage) -> HTTPCacheRecord? {
        if let record = image.status?.known?.validators?.record { return record }
        return rule.validators(of: image.loaded?.response, receivedHash: nil)?.record
    }

    private func store(_ data: Data, _ image: PipelineImage, _ record: HTTPCacheRecord?, _ job: WorkJob) {
        // Damaged images may become whole with the next download.
        guard let key = plan.value.cacheKey, image.isStorable, !image.image.metadata.isDamaged else { return }
        let hash = image.image.metadata.sourceHash
        var request = ImageStoreRequest(key: key, data: data)
        request.cacheType = .disk
        request.validators = CacheValidators(record: record, receivedHash: hash == 0 ? nil : hash)
        if let scope = load.decode.original.plan.value.sharingScope {
            rule.share(&request, as: scope, image.loaded?.response)
        }
        cache.store(request, completion: nil)
        job.note(.stored(key: key, .disk))
    }
}
