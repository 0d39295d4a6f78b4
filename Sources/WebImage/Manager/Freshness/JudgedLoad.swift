import FoundationEssentials

/// One load that serves what is cached for as long as its policy says, and asks the server otherwise.
struct JudgedLoad: Sendable {
    private(set) var image: CachedImage
    let policy: CachePolicy
    let progress: (@Sendable (LoadProgress) -> Void)?

    private var manager: WebImageManager { image.manager }
    private var operation: WebImageLoadOperation { image.operation }
    private var options: WebImageOptions { image.options }

    // MARK: What is known

    /// Looks for what is known of the entry: in memory, which takes no hop, else on disk.
    func start() {
        operation.observation?.noteStart(cacheKey: image.resultKey)
        if let error = missing { return operation.end(.failure(error)) }
        let (cache, key) = (image.originalCache, image.originalKey)
        if let known = cache.knownValidators(forKey: key) { return judge(known) }
        if let derived = DerivedSource(image.memory.hit?.image) { return judge(derived.known, derived) }
        guard !options.contains(.queryDiskDataSync) else { return judgeBlocking() }
        let query = cache.queryValidators(forKey: key, priority: options.loadPriority) { known in
            guard known == nil, image.resultKey != key || image.cache !== cache else { return judge(known) }
            // Where the original is not kept, what was made of it tells.
            image.cache.queryValidators(forKey: image.resultKey, priority: options.loadPriority) {
                judge($0, DerivedSource($0, image.memory.hit?.image))
            }
        }
        operation.addEndHandler { query.cancel() }
    }

    /// The same on the caller's thread.
    private func judgeBlocking() {
        let (cache, key) = (image.originalCache, image.originalKey)
        if let known = cache.validatorsSync(forKey: key) { return judge(known) }
        guard image.resultKey != key || image.cache !== cache else { return judge(nil) }
        let known = image.cache.validatorsSync(forKey: image.resultKey)
        judge(known, DerivedSource(known, image.memory.hit?.image))
    }

    /// What the server said about a picture that it does not have.
    private var missing: WebImageError? {
        guard policy == .http, !options.contains(.fromCacheOnly) else { return nil }
        return manager.knownMissing(at: image.url, image.context)
    }

    // MARK: The decision

    /// - Parameter derived: where `known` is from, if not from the original's entry.
    private func judge(_ known: KnownValidators?, _ derived: DerivedSource? = nil) {
        guard operation.isRunning else { return }
        let lookup = image.memory
        let decision = HTTPCacheMachine.decide(
            known?.validators?.record,
            isStored: known != nil || lookup.hit != nil,
            request: manager.cacheRequest(image.url, policy, options, image.context),
            policy: policy,
            now: manager.clock.wallTime()
        )
        if let verdict = CacheVerdict(decision) { operation.observation?.note(.judged(verdict)) }
        let found = Found(known: known, lookup: lookup, derived: derived)
        if options.contains(.fromCacheOnly) {
            switch decision {
            case .hit(let answer): return serve(found, isStale: answer.isStale)
            // It is the answer to another request.
            case .fetch(.varies): return operation.end(.failure(.notCached(image.url)))
            default: return serve(found, isStale: true)
            }
        }
        switch decision {
        case .hit(let answer): serve(found, isStale: answer.isStale)
        case .serveStale: serveAndAsk(found)
        case .revalidate(_, let fallback): ask(found, fallback)
        case .fetch(.nothingStored): load()
        case .fetch: ask(found, .never)
        case .unsatisfiable: operation.end(.failure(.notCached(image.url)))
        }
    }

    /// What is cached, as far as it is known.
    private struct Found {
        var known: KnownValidators?
        var lookup: MemoryLookup
        var derived: DerivedSource?
    }

    // MARK: What is done

    /// Loads as if nobody had asked how old what is cached is, because there is nothing.
    ///
    /// - Parameter isOutdated: whether what there may be is known to be of no use.
    private func load(isOutdated: Bool = false) {
        guard operation.isRunning else { return }
        operation.standing = nil
        manager.start(
            operation,
            url: image.url,
            options: isOutdated && !options.contains(.fromCacheOnly) ? options.union(.fromLoaderOnly) : options,
            context: image.context,
            progress: progress
        )
    }

    private func serve(_ found: Found, isStale: Bool = false, because error: WebImageError? = nil) {
        operation.standing = standing(found, isStale: isStale, because: error)
        if let hit = found.lookup.hit, options.contains(.queryMemoryData),
            hit.image.mayBeMade(of: found.known?.contentHash)
        {
            manager.note(found.lookup, forKey: image.resultKey, operation)
            return MemoryDataQuery(image).start(with: hit)
        }
        image.find(madeOf: found.known?.contentHash, found.lookup) { cached in
            if let cached {
                operation.end(.success(cached))
            } else if let error {
                operation.end(.failure(error))
            } else {
                load(isOutdated: true)
            }
        }
    }

    private func serveAndAsk(_ found: Found) {
        operation.standing = standing(found, isStale: true, because: nil)
        image.find(madeOf: found.known?.contentHash, found.lookup) { cached in
            guard let cached else { return load(isOutdated: true) }
            let refresh = ImageRefresh(image: image, progress: progress, isSilent: true, derived: found.derived)
            refresh.start(after: cached)
        }
    }

    /// Asks the server, and serves what is cached if that is what it has, or if it cannot be asked and the fallback allows it.
    private func ask(_ found: Found, _ fallback: HTTPStaleFallback) {
        let plan = image.plan(for: .news, options, derived: found.derived?.content)
        guard manager.mayDownload(image.url) else {
            let error = WebImageError.downloadRefused(image.url)
            return fallback.whenUnreachable
                ? serve(found, isStale: true, because: error) : operation.end(.failure(error))
        }
        operation.subscribe(
            to: ResultWork(plan: plan),
            priority: options.loadPriority,
            progress: progress
        ) { result in
            guard case .failure(let error) = result else {
                return manager.finish(operation, result, plan, image.url, image.resultKey, options)
            }
            if let unchanged = error.underlyingError as? UnchangedContent {
                return serveRenewed(unchanged.content, found)
            }
            let failure = error.with(url: image.url)
            if fallback.allows(failure) { return serve(found, isStale: true, because: failure) }
            guard found.known == nil, found.lookup.hit == nil else { return fail(failure, plan) }
            manager.finish(operation, result, plan, image.url, image.resultKey, options)
        }
    }

    /// Ends with an error while something is cached. The URL is not remembered as failed: that would keep what is cached from being
    /// served, too.
    private func fail(_ error: WebImageError, _ plan: LoadPlan) {
        manager.noteMissing(error, plan)
        operation.end(.failure(error))
    }

    /// Serves what the server says that it has.
    private func serveRenewed(_ content: SourceContent, _ found: Found) {
        operation.observation?.note(.notModified)
        let loader = image.context?.imageLoader ?? manager.imageLoader
        manager.noteEnd(of: image.url, options: options, loader: loader, error: nil)
        found.derived?.renew(content, of: image)
        let known = KnownValidators(validators: content.validators, contentHash: content.hash)
        // On a thread of the network: nothing is read there.
        var later = self
        later.image.options.remove(.queryDiskDataSync)
        later.serve(Found(known: known, lookup: image.memory))
    }

    private func standing(_ found: Found, isStale: Bool, because error: WebImageError?) -> WebImageResult.Standing {
        let now = manager.clock.wallTime()
        let record = found.known?.validators?.record
        return WebImageResult.Standing(
            age: record.map { $0.freshness(now: now).age },
            isStale: isStale,
            response: record.map { HTTPCacheMachine.delivered($0, url: image.url, now: now) },
            refreshError: error
        )
    }
}

extension HTTPStaleFallback {
    /// Whether what is stored serves after this error.
    func allows(_ error: WebImageError) -> Bool {
        switch error.code {
        case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .secureConnectionFailed,
            .transportFailed, .hostUnavailable:
            whenUnreachable
        case .invalidDownloadStatusCode: whenServerFails && [500, 502, 503, 504].contains(error.statusCode)
        default: false
        }
    }
}
