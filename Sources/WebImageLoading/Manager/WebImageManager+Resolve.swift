import FoundationEssentials

/// The options and context of a load after the manager's options processor.
struct ResolvedLoad: Sendable {
    var options: WebImageOptions
    var context: WebImageContext?
    /// The manager's own components when the load started.
    let parts: WebImageManager.Parts?

    /// The same load, called back on the thread that ends its work.
    var inline: ResolvedLoad {
        var load = self
        load.context = context ?? WebImageContext()
        load.context?.callbackQueue = .inline
        return load
    }

    /// The same load for an async caller: it never blocks a thread of Swift's concurrency pool, which the caller cannot have
    /// intended.
    var awaited: ResolvedLoad {
        var load = inline
        load.options.subtract([.queryDiskDataSync, .queryMemoryDataSync])
        return load
    }
}

// MARK: The context's components, or else the manager's

extension WebImageManager {
    /// Resolves a load, as the first step of every load: calls the options processor with the manager's components filled into
    /// the context where it has none. Without a processor nothing is copied; missing components are taken from the manager when
    /// needed.
    func resolve(_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext?) -> ResolvedLoad {
        var load = processed(url, options, context)
        // The only place where a policy changes a load. Its decoding limits are applied with the decode options.
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

    /// The policy that decides how long a cached image stays usable for a load.
    func cachePolicy(for load: ResolvedLoad) -> CachePolicy {
        load.context?.cachePolicy ?? load.parts?.values.cachePolicy ?? .immutable
    }
}
