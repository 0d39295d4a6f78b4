import FoundationEssentials

/// Gets the original bytes of an image: from disk if they are there, else from a loader.
struct OriginalWork: Work {
    let plan: Boxed<LoadPlan.Original>

    var cache: any ImageCaching { plan.value.cache.value }
    /// The original key; nil if no cache is used.
    var cacheKey: String? { plan.value.cacheKey }
    var queriesDisk: Bool { plan.value.queriesDisk }
    var storesDisk: Bool { plan.value.storesDisk }
    /// True if the entry on disk is out of date.
    private var replaces: Bool { plan.value.revalidation != nil }
    var rule: StorageRule { plan.value.rule.value }
    var serializer: CacheSerializer? { plan.value.serializer?.value }
    /// Nil if only the caches may be queried.
    var fetch: FetchWork? { plan.value.fetch.map { FetchWork(plan: $0) } }

    var key: WorkKey { .original(plan) }

    /// The same work for a caller that wants all bytes, also of a video.
    var whole: OriginalWork {
        guard let fetch = plan.value.fetch, fetch.value.readsParts else { return self }
        // The entry on disk is a still.
        let plan = withoutDisk.plan.with {
            $0.revalidation = nil
            $0.fetch = fetch.with { $0.readsParts = false }
        }
        return OriginalWork(plan: plan)
    }

    /// The same work without querying the disk, after its entry could not be decoded.
    var fromLoader: OriginalWork {
        let plan = withoutDisk.plan.with {
            $0.revalidation = nil
            $0.given = nil
            $0.isSecondTry.value = true
        }
        return OriginalWork(plan: plan)
    }

    func start(_ job: WorkJob) {
        if let given = plan.value.given { return job.finish(.success(.data(given.value.original))) }
        if let revalidation = RevalidationWork(plan: plan) { return revalidate(revalidation, job) }
        if let reason = reasonNotToLook { job.note(.diskMissed(key: cacheKey ?? "", reason)) }
        guard queriesDisk, let cacheKey else { return startLoad(job, nil) }
        let shared = fetch == nil ? nil : shared(job)
        let read = DiskReadWork(
            cache: cache,
            cacheKey: cacheKey,
            sharingScope: plan.value.sharingScope,
            isFollowedByLoad: fetch != nil
        )
        job.require(read) { result in
            guard case .success(.diskEntry(let entry?)) = result else { return startLoad(job, shared) }
            if let problem = problem(of: entry) {
                job.note(.diskMissed(key: cacheKey, .refused))
                guard fetch != nil else { return job.finish(.failure(problem)) }
                return startLoad(job, shared)
            }
            job.finish(.success(.data(OriginalData(entry: entry, source: .disk))))
        }
    }

    /// Gets the bytes on disk if they are current, else newer ones.
    private func revalidate(_ work: RevalidationWork, _ job: WorkJob) {
        let unjudged = OriginalWork(plan: plan.with { $0.revalidation = nil })
        let shared = fetch == nil ? nil : shared(job)
        job.require(work) { result in
            // Until the work that follows holds it.
            defer { withExtendedLifetime(shared) {} }
            switch result {
            case .success(.revalidated(.newer(let given))): job.finish(.success(.data(given.original)))
            case .success(.revalidated(.current(let status))):
                let stored = OriginalWork(plan: unjudged.plan.with { ($0.fetch, $0.permission) = (nil, nil) })
                job.require(stored) { result in
                    // The entry may have been removed meanwhile.
                    guard case .failure(let error) = result, error.code == .notCached, fetch != nil else {
                        return job.finish(result)
                    }
                    if let error = status.error { return job.finish(.failure(error)) }
                    job.require(unjudged) { job.finish($0) }
                }
            case .success: job.require(unjudged) { job.finish($0) }
            case .failure: job.finish(result)
            }
        }
    }

    /// Returns the error that makes an entry on disk unusable; nil if it is usable.
    func problem(of entry: CachedImageData) -> WebImageError? {
        plan.value.entryRule?.problem(of: entry.data, isRemade: serializer != nil)
    }

    /// The reason for not querying the disk; nil if it is or was queried.
    private var reasonNotToLook: WebImageLoadEvent.MissReason? {
        guard !plan.value.isSecondTry.value else { return nil }
        return cacheKey == nil ? .noKey : queriesDisk ? nil : .notAsked
    }

    /// The load that other machines may wait for; nil if the entry is not for others.
    private func shared(_ job: WorkJob) -> SharedLoad? {
        job.pipeline.sharedLoads.load(of: cacheKey, in: cache, scope: plan.value.sharingScope)
    }

    /// Asks the loader.
    ///
    /// - Parameter shared: Released when the bytes are stored, or are not needed any more.
    private func startLoad(_ job: WorkJob, _ shared: SharedLoad?) {
        guard let fetch else { return job.finish(.failure(.notCached())) }
        guard plan.value.permission?.value() ?? true else {
            return job.finish(.failure(.downloadRefused(fetch.url)))
        }
        // From here on, it equals the work of loads that do not query the disk.
        if queriesDisk {
            let same = withoutDisk
            guard job.pipeline.alias(job, as: same.key) else {
                return job.require(same) { result in withExtendedLifetime(shared) { job.finish(result) } }
            }
        }
        job.require(fetch) { result in
            guard case .success(.loaded(let loaded, let reservation)) = result else {
                shared?.end()
                return job.finish(result)
            }
            let original = data(of: loaded, reservation, shared)
            if original.store == nil { shared?.end() }
            job.finish(.success(.data(original)))
        }
    }

    /// The same work without querying the disk, as requested by loads from the loader only.
    private var withoutDisk: OriginalWork {
        let plan = plan.with {
            $0.queriesDisk = false
            $0.entryRule = nil
        }
        return OriginalWork(plan: plan)
    }

    /// Returns the bytes from a loader, with the task of storing them.
    func data(
        of loaded: LoadedImageData,
        _ reservation: ByteReservation,
        _ shared: SharedLoad? = nil
    ) -> OriginalData {
        let isStorable = rule.admits(loaded.response) && fetch?.isForOthers(loaded.response) != true
        return OriginalData(
            entry: CachedImageData(data: loaded.data),
            source: .none,
            loaded: loaded,
            store: isStorable ? makeStore(of: loaded, shared) : makeRemoval(),
            reservation: reservation,
            isStorable: isStorable
        )
    }

    // MARK: Storing

    private func makeStore(of loaded: LoadedImageData, _ shared: SharedLoad?) -> StoreOnce? {
        guard let cacheKey, storesDisk || replaces else { return nil }
        guard storesDisk else { return makeRemoval() }
        let url = fetch?.url
        let keepsVariants = plan.value.keepsVariants.value
        // The user's serializer may have put in what is for this user.
        let sharingScope = serializer == nil ? plan.value.sharingScope : nil
        return StoreOnce { [cache, serializer, rule, replaces] contents, group in
            defer { withExtendedLifetime(shared) {} }
            // Without bytes, the loader's own image is encoded and stored, and the still of a video.
            let bytes = loaded.isVideo || loaded.data.isEmpty && loaded.image != nil ? nil : loaded.data
            let image = loaded.image ?? contents.image
            guard bytes != nil || image != nil else {
                // A still that is not stored; the one on disk is of the former video.
                return replaces ? cache.removeImage(forKey: cacheKey, from: .disk) { group.leave() } : group.leave()
            }
            let made = serializer?.bytes(for: image, data: bytes, url: url)
            let isOther = bytes != nil && made != nil && made != bytes
            let encoded = bytes == nil ? image : loaded.image
            var request = ImageStoreRequest(key: cacheKey, image: encoded, data: made ?? bytes)
            request.cacheType = .disk
            request.coder = contents.coder
            request.thumbHash = contents.seen.flatMap { try? ThumbHash(sampling: $0) }
            request.encodeOptions = contents.encodeOptions
            request.keepsVariants = keepsVariants
            if !isOther, bytes != nil { request.dataHash = contents.seen?.metadata.knownSourceHash }
            request.validators = rule.validators(
                of: loaded.response,
                receivedHash: isOther || loaded.isVideo && !loaded.data.isEmpty ? loaded.data.contentHash : nil
            )
            if let sharingScope { rule.share(&request, as: sharingScope, loaded.response) }
            if replaces {
                cache.replace(with: request) { group.leave() }
            } else {
                cache.store(request) { group.leave() }
            }
        }
    }

    /// Replaces a store: the entry of the old image is out of date in any case.
    private func makeRemoval() -> StoreOnce? {
        guard let cacheKey, replaces else { return nil }
        return StoreOnce { [cache] _, group in cache.removeImage(forKey: cacheKey, from: .all) { group.leave() } }
    }
}

extension CacheSerializer {
    /// Returns the bytes to store; nil also for empty ones, which would be useless.
    func bytes(for image: Image?, data: Data?, url: URL?) -> Data? {
        let result = self.data(for: image, data: data, url: url)
        return result?.isEmpty == true ? nil : result
    }
}
