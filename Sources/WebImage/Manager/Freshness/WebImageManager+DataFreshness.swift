import FoundationEssentials

extension WebImageManager {
    /// The original bytes under a policy that says how long what is on disk serves.
    func judgedResult(
        _ url: URL,
        _ load: ResolvedLoad,
        _ policy: CachePolicy,
        _ observation: LoadObservation?
    ) async throws(WebImageError) -> WorkResult {
        let (options, context) = (load.options, load.context)
        guard let key = originalKey(for: url, context: context, parts: load.parts) else {
            return try await foundResult(url, load, observation)
        }
        if policy == .http, !options.contains(.fromCacheOnly),
            let error = knownMissing(at: url, context)
        {
            throw error
        }
        let known = await knownValidators(forKey: key, context, options.loadPriority)
        let decision = HTTPCacheMachine.decide(
            known?.validators?.record,
            isStored: known != nil,
            request: cacheRequest(url, policy, options, context),
            policy: policy,
            now: clock.wallTime()
        )
        if let verdict = CacheVerdict(decision) { observation?.note(.judged(verdict)) }
        switch decision {
        case .hit, .fetch(.nothingStored): return try await foundResult(url, load, observation)
        case _ where options.contains(.fromCacheOnly): return try await foundResult(url, load, observation)
        case .serveStale: return try await askedResult(url, load, .always, observation)
        case .revalidate(_, let fallback): return try await askedResult(url, load, fallback, observation)
        case .fetch: return try await askedResult(url, load, .never, observation)
        case .unsatisfiable: throw .notCached(url)
        }
    }

    private func knownValidators(
        forKey key: String,
        _ context: WebImageContext?,
        _ priority: LoadPriority
    ) async -> KnownValidators? {
        let cache = context?.originalImageCache ?? context?.imageCache ?? imageCache
        if let known = cache.knownValidators(forKey: key) { return known }
        return await awaitOperation { cache.queryValidators(forKey: key, priority: priority, completion: $0) }
    }

    /// What the server has, or what is on disk if that is the same, or if the server cannot be asked and the fallback allows it.
    private func askedResult(
        _ url: URL,
        _ load: ResolvedLoad,
        _ fallback: HTTPStaleFallback,
        _ observation: LoadObservation?
    ) async throws(WebImageError) -> WorkResult {
        guard mayDownload(url) else {
            guard fallback.whenUnreachable else { throw .downloadRefused(url) }
            return await dataResult(url, load, load.options.union(.fromCacheOnly), observation)
        }
        let result = await dataResult(url, load, load.options, observation, purpose: .news)
        guard case .failure(let error) = result, error.code != .cancelled else { return result }
        let isUnchanged = error.code == .cacheNotModified
        if isUnchanged { observation?.note(.notModified) }
        guard isUnchanged || fallback.allows(error) else {
            noteMissing(error.with(url: url), plan(of: url, load, load.options, purpose: .news))
            return result
        }
        let cached = await dataResult(url, load, load.options.union(.fromCacheOnly), observation)
        // What was there may have gone meanwhile.
        guard case .failure(let failure) = cached, failure.code == .notCached else { return cached }
        guard isUnchanged else { return result }
        return await dataResult(url, load, load.options, observation)
    }
}
