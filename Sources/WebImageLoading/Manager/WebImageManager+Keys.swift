public import FoundationEssentials

extension WebImageManager {
    /// The key under which the original of `url` lies in the caches; empty if the key filter gives none. The
    /// ``optionsProcessor`` is not asked. With fields or credentials of the downloader that say who asks, a digest of them is part of it.
    public func cacheKey(for url: URL) -> String { originalKey(for: url, given(nil)) ?? "" }

    /// The key under which the result of a load with `context` lies in the caches: that of the original, with a suffix for
    /// a thumbnail size and one for a transformer. Empty if the key filter gives none. The ``optionsProcessor`` is not asked:
    /// where it changes sizes, transformers or filters, the key is another. With fields among the context's
    /// ``WebImageContext/additionalHeaders`` that say who asks, such as `Authorization` and `Cookie`, a digest of them is part of it.
    public func cacheKey(for url: URL, context: WebImageContext?) -> String {
        let load = given(context)
        return originalKey(for: url, load).map { resultKey(for: $0, load) } ?? ""
    }

    /// A load that the ``optionsProcessor`` is not asked about.
    private func given(_ context: WebImageContext?) -> ResolvedLoad {
        ResolvedLoad(options: [], context: context, parts: parts)
    }

    func originalKey(for url: URL, _ load: ResolvedLoad) -> String? {
        let rights = rights(of: url, load)
        guard let filter = load.context?.cacheKeyFilter ?? load.parts?.values.cacheKeyFilter else {
            return rights.key(url.absoluteString)
        }
        // All that has an empty key would lie under the same one.
        return filter.cacheKey(for: url).flatMap { $0.isEmpty ? nil : rights.key($0) }
    }

    /// With whose rights a URL is loaded: those of the context's fields and of the loader's own.
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
            // Transformers work in points: with another scale the same one makes other pixels.
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
        // A chain of nothing makes nothing: the result is the original, and lies under its key.
        if let chain = choice as? PipelineTransformer, chain.flattened.isEmpty { return nil }
        return choice
    }
}

extension WebImageContext {
    /// The scale that the context gives, in place of the one that the key tells.
    var explicitScale: Double? {
        if let imageScaleFactor, imageScaleFactor >= 1 { return imageScaleFactor }
        guard let factor = decodeOptions?.scaleFactor, factor > 1 else { return nil }
        return factor
    }
}
