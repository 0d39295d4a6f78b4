import FoundationEssentials

/// Options and context of a load after the manager's processor.
struct ResolvedLoad: Sendable {
    var options: WebImageOptions
    var context: WebImageContext?
    /// The manager's own parts when the load began.
    let parts: WebImageManager.Parts?

    /// The same for a load that is awaited: it goes on where its work ends, and never blocks one of the few threads of Swift's
    /// concurrency, which the caller cannot have meant.
    var awaited: ResolvedLoad {
        var load = self
        var context = context ?? WebImageContext()
        context.callbackQueue = .inline
        load.context = context
        load.options.subtract([.queryDiskDataSync, .queryMemoryDataSync])
        return load
    }
}

extension WebImageManager {
    /// The first step of every load: asks the processor, showing it the manager's own parts where the context has none. Without
    /// a processor nothing is copied; what the context lacks is taken from the manager when it is needed.
    func resolve(_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext?) -> ResolvedLoad {
        let load = processed(url, options, context)
        return policy.isTrusted ? load : withinPolicy(load)
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
}
