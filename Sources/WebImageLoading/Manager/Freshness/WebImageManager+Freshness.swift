import FoundationEssentials

extension WebImageManager {
    /// What is stored of the answers to a load.
    func storageRule(_ url: URL, _ load: ResolvedLoad) -> StorageRule {
        let policy = cachePolicy(for: load)
        return StorageRule(policy: policy, request: cacheRequest(url, policy, load), clock: clock)
    }

    /// How long what is cached serves a load; nil if as long as it is there, or if the caches are not asked.
    func revalidation(_ url: URL, _ load: ResolvedLoad) -> LoadPlan.Revalidation? {
        guard !load.options.contains(.fromLoaderOnly) else { return nil }
        let policy = cachePolicy(for: load)
        let asksAlways = load.options.contains(.refreshCached) && !load.options.contains(.fromCacheOnly)
        guard asksAlways || policy != .immutable else { return nil }
        let request = cacheRequest(url, policy, load)
        return LoadPlan.Revalidation(asksAlways: asksAlways, policy: policy, request: request)
    }

    /// A load as a cache sees it; one that says nothing where the policy does not look at requests.
    private func cacheRequest(_ url: URL, _ policy: CachePolicy, _ load: ResolvedLoad) -> HTTPCacheRequest {
        guard policy == .http else { return HTTPCacheRequest() }
        return HTTPCacheRequest(
            headers: loader(for: load).requestHeaders(for: ImageLoadRequest(url, load.options, load.context).reduced),
            handlesCookies: load.options.contains(.handleCookies)
        )
    }

    /// Remembers that there is nothing at a URL, if that is what a load came to and its policy is to heed it.
    func noteMissing(_ error: WebImageError, _ plan: LoadPlan) {
        let rule = plan.decode.original.rule
        guard rule.policy == .http, let load = plan.decode.original.fetch, let response = error.response else { return }
        let (now, request) = (clock.wallTime(), MissingRequest(url: load.url, headers: load.headers))
        let seconds = HTTPCacheMachine.negativeLifetime(
            of: response,
            request: rule.request,
            policy: rule.policy,
            now: now
        )
        if let seconds { activity.withLock { $0.missing.insert(request, error.withoutBulk, at: now, for: seconds) } }
    }
}

/// A request to which a server said that there is nothing (404, 410). Another request for the URL, for example with a password, may be
/// answered otherwise.
struct MissingRequest: Hashable, Sendable {
    var url: URL
    var headers: HTTPHeaders
}

extension WebImageError {
    /// The most bytes of a response's fields that are kept for each picture that there is not.
    private static let mostFieldBytes = 2048

    /// The same without the response if that is long: whoever answers decides how long it is, and many answers are kept.
    var withoutBulk: WebImageError {
        let byteCount = response?.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } ?? 0
        guard byteCount > Self.mostFieldBytes else { return self }
        var error = self
        error.response = nil
        return error
    }
}
