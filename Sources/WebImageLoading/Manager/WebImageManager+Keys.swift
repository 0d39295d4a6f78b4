public import FoundationEssentials

extension WebImageManager {
    /// Returns the cache key of the original at `url`; empty if the key filter returns none. The ``optionsProcessor`` is not called. If
    /// the downloader's header fields or credentials identify the user, the key includes a digest of them.
    public func cacheKey(for url: URL) -> String { originalKey(for: url, given(nil)) ?? "" }

    /// Returns the cache key of the result of a load with `context`: the original's key, with a suffix for a thumbnail size and one
    /// for a transformer. Empty if the key filter returns none. The ``optionsProcessor`` is not called; if it changes sizes,
    /// transformers or filters, the load has another key. If the context's ``WebImageContext/additionalHeaders`` contain fields that
    /// identify the user, such as `Authorization` and `Cookie`, the key includes a digest of them.
    public func cacheKey(for url: URL, context: WebImageContext?) -> String {
        let load = given(context)
        return originalKey(for: url, load).map { resultKey(for: $0, load) } ?? ""
    }

    /// A load without the ``optionsProcessor``.
    private func given(_ context: WebImageContext?) -> ResolvedLoad {
        ResolvedLoad(options: [], context: context, parts: parts)
    }

    func originalKey(for url: URL, _ load: ResolvedLoad) -> String? {
        let rights = rights(of: url, load)
        guard let filter = load.context?.cacheKeyFilter ?? load.parts?.values.cacheKeyFilter else {
            return rights.key(url.absoluteString)
        }
        // Otherwise all URLs with an empty key would share an entry.
        return filter.cacheKey(for: url).flatMap { $0.isEmpty ? nil : rights.key($0) }
    }

    /// The access rights for loading a URL: those of the context's header fields and the loader's own.
    func rights(of url: URL, _ load: ResolvedLoad) -> LoadRights {
        var request = ImageLoadRequest(url: url)
        if let context = load.context, context.hasRareProperties {
            request.additionalHeaders = context.additionalHeaders
        }
        return loader(for: load).rights(for: request)
    }

    func resultKey(for originalKey: String, _ load: ResolvedLoad) -> String {
        let context = load.context
        var key = originalKey
        if let size = context?.thumbnailPixelSize, size.isUsable {
            let preserves = context?.preserveAspectRatio ?? true
            let covers = context?.thumbnailCovers ?? false
            key = CacheKeys.thumbnail(key, size: size, preserveAspectRatio: preserves, covers: covers)
        }
        if let transformer = transformer(for: load) {
            var transformerKey = transformer.transformerKey
            // Transformers work in points: the same one produces other pixels at another scale.
            if let scale = context?.explicitScale, scale != ImageScaleFactor.forKey(originalKey) {
                transformerKey += "-Scale(\(FixedDecimal.string(scale)))"
            }
            key = CacheKeys.transformed(key, by: transformerKey)
        }
        return key
    }

    func transformer(for load: ResolvedLoad) -> (any ImageTransformer)? {
        let choice: (any ImageTransformer)? =
            switch load.context?.imageTransformer {
            case nil, .inherited?: load.parts?.values.transformer
            case .some(.none): nil
            case .transformer(let transformer)?: transformer
            }
        // An empty chain changes nothing: the result is the original, with the same key.
        if let chain = choice as? PipelineTransformer, chain.flattened.isEmpty { return nil }
        return choice
    }
}

extension WebImageContext {
    /// The scale given by the context, in place of the one in the key.
    var explicitScale: Double? {
        if let imageScaleFactor, imageScaleFactor >= 1 { return imageScaleFactor }
        guard let factor = decodeOptions?.scaleFactor, factor > 1 else { return nil }
        return factor
    }
}
