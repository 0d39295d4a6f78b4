import FoundationEssentials

extension WebImageManager {
    /// Who decides how long what is cached serves a load.
    func cachePolicy(for context: WebImageContext?, parts: Parts?) -> CachePolicy {
        context?.cachePolicy ?? parts?.values.cachePolicy ?? .immutable
    }

    /// What is stored of the answers to a load.
    func storageRule(_ url: URL, _ options: WebImageOptions, _ context: WebImageContext?) -> StorageRule {
        let policy = cachePolicy(for: context, parts: parts)
        return StorageRule(policy: policy, request: cacheRequest(url, policy, options, context), clock: clock)
    }

    /// How long what is cached serves a load; nil if as long as it is there, or if the caches are not asked.
    func revalidation(_ url: URL, _ load: ResolvedLoad) -> LoadPlan.Revalidation? {
        let (options, context) = (load.options, load.context)
        guard !options.contains(.fromLoaderOnly) else { return nil }
        let policy = cachePolicy(for: context, parts: load.parts)
        let asksAlways = options.contains(.refreshCached) && !options.contains(.fromCacheOnly)
        guard asksAlways || policy != .immutable else { return nil }
        return LoadPlan.Revalidation(
            asksAlways: asksAlways,
            policy: policy,
            request: cacheRequest(url, policy, options, context)
        )
    }

    /// A load as a cache sees it. Where the request has no say it is not made up.
    func cacheRequest(
        _ url: URL,
        _ policy: CachePolicy,
        _ options: WebImageOptions,
        _ context: WebImageContext?
    ) -> HTTPCacheRequest {
        guard policy == .http else { return .plain }
        let request = ImageLoadRequest(
            url: url,
            options: options.intersection(.affectingRequest),
            additionalHeaders: context?.additionalHeaders ?? HTTPHeaders()
        )
        return HTTPCacheRequest(
            headers: (context?.imageLoader ?? imageLoader).requestHeaders(for: request),
            handlesCookies: options.contains(.handleCookies)
        )
    }

    /// Remembers that there is nothing at a URL, if that is what a load came to and its policy is to heed it.
    func noteMissing(_ error: WebImageError, _ plan: LoadPlan) {
        let rule = plan.decode.original.rule
        guard rule.policy == .http, let load = plan.decode.original.fetch, let response = error.response else { return }
        let seconds = HTTPCacheMachine.negativeLifetime(
            of: response,
            request: rule.request,
            policy: rule.policy,
            now: clock.wallTime()
        )
        if let seconds { noteMissing(MissingPictures.Request(load), error, for: seconds) }
    }

    /// What a server said of a picture that it does not have, if that still holds.
    func knownMissing(at url: URL, _ context: WebImageContext?) -> WebImageError? {
        knownMissing(.init(at: url, context))
    }
}

extension HTTPCacheRequest {
    /// A request that says nothing.
    static let plain = HTTPCacheRequest()
}

extension MissingPictures.Request {
    /// What a load asks for.
    init(_ load: FetchWork) { self.init(url: load.url, headers: load.headers) }

    /// What a load of a URL asks for.
    init(at url: URL, _ context: WebImageContext?) {
        self.init(url: url, headers: context?.additionalHeaders ?? HTTPHeaders())
    }
}
