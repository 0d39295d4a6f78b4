import FoundationEssentials

/// Gets the original bytes of a picture: from disk if they are there, else from a loader.
struct OriginalWork: Work {
    let plan: Boxed<LoadPlan.Original>

    var cache: any ImageCaching { plan.value.cache.value }
    /// The original key; nil if the caches take no part.
    var cacheKey: String? { plan.value.cacheKey }
    var queriesDisk: Bool { plan.value.queriesDisk }
    var storesDisk: Bool { plan.value.storesDisk }
    var refreshes: Bool { plan.value.refreshes }
    var rule: StorageRule { plan.value.rule.value }
    var serializer: CacheSerializer? { plan.value.serializer?.value }
    /// Nil if only the caches may be asked.
    var fetch: FetchWork? { plan.value.fetch.map { FetchWork(plan: $0) } }

    var key: WorkKey { .original(plan) }

    /// The same without a look at the disk, for when what is there cannot be decoded.
    var fromLoader: OriginalWork {
        let plan = plan.with {
            $0.queriesDisk = false
            $0.entryRule = nil
            $0.refreshes = false
            $0.asksAlways = false
            $0.derived = nil
            $0.isSecondTry.value = true
        }
        return OriginalWork(plan: plan)
    }

    func start(_ job: WorkJob) {
        if let reason = reasonNotToLook { job.note(.diskMissed(key: cacheKey ?? "", reason)) }
        guard queriesDisk, let cacheKey else { return startLoad(job, insteadOf: plan.value.derived) }
        job.require(DiskReadWork(cache: cache, cacheKey: cacheKey)) { result in
            guard case .success(.diskEntry(let entry?)) = result else {
                return startLoad(job, insteadOf: plan.value.derived)
            }
            if let problem = problem(of: entry) {
                job.note(.diskMissed(key: cacheKey, .refused))
                guard fetch != nil else { return job.finish(.failure(problem)) }
                // Nor is the server asked whether it is still the same.
                return startLoad(job, insteadOf: nil)
            }
            guard refreshes else {
                return job.finish(.success(.data(OriginalData(entry: entry, source: .disk))))
            }
            if rule.serves(entry.validators) { return job.finish(.failure(.unchanged(entry.source, fetch?.url))) }
            startLoad(job, insteadOf: Boxed(entry.source))
        }
    }

    /// Why an entry on disk does not serve; nil where it does.
    func problem(of entry: CachedImageData) -> WebImageError? {
        plan.value.entryRule?.problem(of: entry.data, isRemade: serializer != nil)
    }

    /// Why the disk is not looked at; nil when it is, or was.
    private var reasonNotToLook: WebImageLoadEvent.MissReason? {
        guard !plan.value.isSecondTry.value else { return nil }
        return cacheKey == nil ? .noKey : queriesDisk ? nil : .notAsked
    }

    /// Asks the loader, for bytes other than those that are known if there are any.
    private func startLoad(_ job: WorkJob, insteadOf known: Boxed<SourceContent>?) {
        guard let fetch else { return job.finish(.failure(.notCached())) }
        // From here on it is what loads want that do not look at the disk.
        if queriesDisk, !refreshes {
            let same = withoutDisk
            guard job.pipeline.alias(job, as: same.key) else { return job.require(same) { job.finish($0) } }
        }
        job.require(fetch.conditional(on: rule.conditions(from: known?.value.validators))) { result in
            if let known, let answer = notModified(result) {
                if let known = renewed(known.value, by: answer) {
                    return job.finish(.failure(.unchanged(known, fetch.url)))
                }
                // It is about other bytes than those that are known: the whole has to come.
                return job.require(fetch) { job.finish(outcome(of: $0, nil)) }
            }
            job.finish(outcome(of: result, known?.value))
        }
    }

    /// The same without a look at the disk, which loads ask for that want what the loader has.
    private var withoutDisk: OriginalWork {
        let plan = plan.with {
            $0.queriesDisk = false
            $0.entryRule = nil
        }
        return OriginalWork(plan: plan)
    }

    private func outcome(of result: WorkResult, _ known: SourceContent?) -> WorkResult {
        guard case .success(.loaded(let loaded, let reservation)) = result else { return result }
        if let known, let same = unchanged(loaded, known) { return .failure(.unchanged(same, fetch?.url)) }
        let isStorable = rule.admits(loaded.response) && fetch?.isForOthers(loaded.response) != true
        let original = OriginalData(
            entry: CachedImageData(data: loaded.data),
            source: .none,
            loaded: loaded,
            store: isStorable ? makeStore(of: loaded) : makeRemoval(),
            reservation: reservation,
            isStorable: isStorable
        )
        return .success(.data(original))
    }

    // MARK: What is known already

    /// An answer that nothing has changed.
    private enum NotModified {
        /// A loader of somebody's that says no more.
        case unexplained
        case response(HTTPResponse)
    }

    private func notModified(_ result: WorkResult) -> NotModified? {
        switch result {
        case .success(.loaded(let loaded, _)):
            guard let response = loaded.response, response.statusCode == 304 else { return nil }
            return .response(response)
        case .failure(let error) where error.code == .cacheNotModified:
            return error.response.map { .response($0) } ?? .unexplained
        default: return nil
        }
    }

    /// What is known now if a load brought what was known. The entry gets what was noted of the answer, if that is something else:
    /// with it the next refresh may come without a body, or not be needed.
    private func unchanged(_ loaded: LoadedImageData, _ known: SourceContent) -> SourceContent? {
        guard !loaded.data.isEmpty, loaded.data.contentHash == known.hash, rule.admits(loaded.response) else {
            return nil
        }
        let validators = rule.validators(of: loaded.response, receivedHash: known.validators?.receivedHash)
        return amended(known, validators)
    }

    /// What is known with a 304, which the entry gets; nil when that is about other bytes.
    private func renewed(_ known: SourceContent, by answer: NotModified) -> SourceContent? {
        guard case .response(let response) = answer else { return known }
        return rule.renewed(known.validators, by: response).map { amended(known, $0) }
    }

    private func amended(_ known: SourceContent, _ validators: CacheValidators?) -> SourceContent {
        if let cacheKey, var validators, validators != known.validators {
            validators.subject.value = known.hash
            cache.amend(validators: validators, forKey: cacheKey)
        }
        return SourceContent(hash: known.hash, validators: validators)
    }

    // MARK: Storing

    private func makeStore(of loaded: LoadedImageData) -> StoreOnce? {
        guard let cacheKey, storesDisk || refreshes else { return nil }
        guard storesDisk else { return makeRemoval() }
        let url = fetch?.url
        return StoreOnce { [cache, serializer, rule, refreshes] contents, group in
            // Without bytes the picture is stored as the loader made it, and encoded.
            let bytes = loaded.data.isEmpty && loaded.image != nil ? nil : loaded.data
            let image = loaded.image ?? contents.image
            let made = serializer?.bytes(for: image, data: bytes, url: url)
            let isOther = bytes != nil && made != nil && made != bytes
            var request = ImageStoreRequest(key: cacheKey, image: loaded.image, data: made ?? bytes)
            request.cacheType = .disk
            request.coder = contents.coder
            request.thumbHash = contents.seen.flatMap { try? ThumbHash(sampling: $0) }
            request.encodeOptions = contents.encodeOptions
            if !isOther, bytes != nil { request.dataHash = contents.seen?.metadata.knownSourceHash }
            request.validators = rule.validators(
                of: loaded.response,
                receivedHash: isOther ? loaded.data.contentHash : nil
            )
            if refreshes {
                cache.replace(with: request) { group.leave() }
            } else {
                cache.store(request) { group.leave() }
            }
        }
    }

    /// In place of a store: what lies there of the old picture is out of date all the same.
    private func makeRemoval() -> StoreOnce? {
        guard let cacheKey, refreshes else { return nil }
        return StoreOnce { [cache] _, group in cache.removeImage(forKey: cacheKey, from: .all) { group.leave() } }
    }
}

extension WebImageError {
    /// The error of a refresh that found what is known already.
    fileprivate static func unchanged(_ known: SourceContent, _ url: URL?) -> WebImageError {
        WebImageError(
            .cacheNotModified,
            "there is nothing newer",
            url: url,
            underlyingError: UnchangedContent(content: known)
        )
    }
}

extension CacheSerializer {
    /// The bytes to store; nil also for none at all, which no reader could use.
    func bytes(for image: Image?, data: Data?, url: URL?) -> Data? {
        let result = self.data(for: image, data: data, url: url)
        return result?.isEmpty == true ? nil : result
    }
}
