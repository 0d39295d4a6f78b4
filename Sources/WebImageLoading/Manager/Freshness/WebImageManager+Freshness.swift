import FoundationEssentials

extension WebImageManager {
    /// Returns the rule for storing the responses of a load.
    func storageRule(_ url: URL, _ load: ResolvedLoad) -> StorageRule {
        let policy = cachePolicy(for: load)
        return StorageRule(policy: policy, request: cacheRequest(url, policy, load), clock: clock)
    }

    /// Returns the rules for how long cached images stay usable for a load; nil if they do not expire, or if the caches are not
    /// queried.
    func revalidation(_ url: URL, _ load: ResolvedLoad) -> LoadPlan.Revalidation? {
        guard !load.options.contains(.fromLoaderOnly) else { return nil }
        let policy = cachePolicy(for: load)
        let asksAlways = load.options.contains(.refreshCached) && !load.options.contains(.fromCacheOnly)
        guard asksAlways || policy != .immutable else { return nil }
        let request = cacheRequest(url, policy, load)
        return LoadPlan.Revalidation(asksAlways: asksAlways, policy: policy, request: request)
    }

    /// Returns the request of a load as the HTTP cache sees it; empty if the policy ignores requests.
    private func cacheRequest(_ url: URL, _ policy: CachePolicy, _ load: ResolvedLoad) -> HTTPCacheRequest {
        guard policy == .http else { return HTTPCacheRequest() }
        return HTTPCacheRequest(
            headers: loader(for: load).requestHeaders(for: ImageLoadRequest(url, load.options, load.context).reduced),
            handlesCookies: load.options.contains(.handleCookies)
        )
    }

    /// Remembers a "not found" answer, if a load ended with one and its policy uses it.
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

/// A request that the server answered with 404 or 410. Another request for the URL, for example with a password, may have another
/// answer.
struct MissingRequest: Hashable, Sendable {
    var url: URL
    var headers: HTTPHeaders
}

extension WebImageError {
    /// The maximum bytes of response fields kept for each missing image.
    private static let mostFieldBytes = 2048

    /// The same error, without a long response: its length is up to the server, and many errors are kept.
    var withoutBulk: WebImageError {
        let byteCount = response?.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } ?? 0
        guard byteCount > Self.mostFieldBytes else { return self }
        var error = self
        error.response = nil
        return error
    }
}
