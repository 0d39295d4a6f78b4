import FoundationEssentials

/// Options and context of a load after the manager's processor.
struct ResolvedLoad: Sendable {
    var options: WebImageOptions
    var context: WebImageContext?
    /// The manager's own parts when the load began.
    let parts: WebImageManager.Parts?

    /// The same, called back on the thread that ends its work.
    var inline: ResolvedLoad {
        var load = self
        load.context = context ?? WebImageContext()
        load.context?.callbackQueue = .inline
        return load
    }

    /// The same for a load that is awaited: it never blocks one of the few threads of Swift's concurrency, which the caller
    /// cannot have meant.
    var awaited: ResolvedLoad {
        var load = inline
        load.options.subtract([.queryDiskDataSync, .queryMemoryDataSync])
        return load
    }
}

// MARK: The context's parts, or else the manager's

extension WebImageManager {
    /// The first step of every load: asks the processor, showing it the manager's own parts where the context has none. Without
    /// a processor nothing is copied; what the context lacks is taken from the manager when it is needed.
    func resolve(_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext?) -> ResolvedLoad {
        var load = processed(url, options, context)
        // The one place where a policy changes how a load is made. Limits of decoding follow with the decode options.
        if !policy.isTrusted { load.options.subtract([.handleCookies, .allowInvalidSSLCertificates]) }
        return load
    }

    private func processed(_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext?) -> ResolvedLoad {
        let parts = parts
        guard let values = parts?.values, let processor = values.optionsProcessor else {
            return ResolvedLoad(options: options, context: context, parts: parts)
        }
        var full = context ?? WebImageContext()
        if case .inherited = full.imageTransformer, let transformer = values.transformer {
            full.imageTransformer = .transformer(transformer)
        }
        if full.cacheKeyFilter == nil { full.cacheKeyFilter = values.cacheKeyFilter }
        if full.cacheSerializer == nil, let serializer = values.cacheSerializer { full.cacheSerializer = serializer }
        let result = processor.process(url, options: options, context: full)
        return ResolvedLoad(options: result?.options ?? options, context: result?.context ?? context, parts: parts)
    }
    func cache(for load: ResolvedLoad) -> any ImageCaching { load.context?.imageCache ?? imageCache }

    func originalCache(for load: ResolvedLoad) -> any ImageCaching {
        load.context?.originalImageCache ?? cache(for: load)
    }

    func loader(for load: ResolvedLoad) -> any ImageLoading { load.context?.imageLoader ?? imageLoader }

    func serializer(for load: ResolvedLoad) -> CacheSerializer? {
        load.context?.cacheSerializer ?? load.parts?.values.cacheSerializer
    }

    /// Who decides how long what is cached serves a load.
    func cachePolicy(for load: ResolvedLoad) -> CachePolicy {
        load.context?.cachePolicy ?? load.parts?.values.cachePolicy ?? .immutable
    }
}
