import FoundationEssentials

extension WebImageManager {
    /// Resolves everything that decides how the image is got.
    ///
    /// - Parameters:
    ///   - revalidation: how long what is cached serves; nil for ever.
    ///   - permission: asked before the loader is.
    func plan(
        url: URL,
        originalKey: String?,
        resultKey: String?,
        _ load: ResolvedLoad,
        revalidation: LoadPlan.Revalidation? = nil,
        permission: LoadPlan.Permission? = nil
    ) -> LoadPlan {
        let (options, context) = (load.options, load.context)
        let (cache, originalCache) = (cache(for: load), originalCache(for: load))
        let asksCaches = !options.contains(.fromLoaderOnly)
        let isOriginal = originalKey == resultKey && cache === originalCache
        let query = asksCaches ? context?.queryCacheType ?? .all : .none
        var originalQuery = asksCaches ? context?.originalQueryCacheType ?? .disk : .none
        // One key, one lookup: what is said of the result holds for an original that is the result.
        if isOriginal { originalQuery = ImageCacheType(memory: false, disk: query.includesDisk) }
        let originalStore = context?.originalStoreCacheType ?? .disk
        let serializer = serializer(for: load)
        let fetch = LoadPlan.Fetch(
            ImageLoadRequest(url, options, context),
            by: loader(for: load),
            rights: rights(of: url, load)
        )
        let original = LoadPlan.Original(
            fetch: options.contains(.fromCacheOnly) ? nil : Boxed(fetch),
            cache: originalCache,
            cacheKey: originalKey,
            queriesDisk: originalQuery.includesDisk,
            storesDisk: originalStore.includesDisk,
            revalidation: revalidation,
            permission: permission,
            rule: storageRule(url, load),
            entryRule: EntryRule(policy),
            serializer: serializer
        )
        let decodeOptions = decodeOptions(for: originalKey ?? url.absoluteString, load)
        let transformers = transformer(for: load).map { PipelineTransformer([$0]).flattened } ?? []
        let encodeOptions = context?.encodeOptions.flatMap { $0 == ImageEncodeOptions() ? nil : Boxed($0) }
        let decode = LoadPlan.Decode(
            original: Boxed(original),
            coder: coder(for: load),
            options: decodeOptions,
            encodeOptions: encodeOptions,
            isProgressive: options.contains(.progressiveLoad),
            transformer: transformers.first
        )
        let gate = TransformGate(options, decodesFirstFrameOnly: decodeOptions.decodeFirstFrameOnly)
        let store = context?.storeCacheType ?? .all
        return LoadPlan(
            result: Boxed(
                LoadPlan.Result(
                    url: Uncompared(value: url),
                    decode: Boxed(decode),
                    chain: LoadPlan.Chain(transformers, gate: gate),
                    cache: Identified(cache, by: ObjectIdentifier(cache)),
                    cacheKey: resultKey,
                    queriesMemory: query.includesMemory,
                    queriesDisk: query.includesDisk,
                    queriesOriginalMemory: originalQuery.includesMemory,
                    readsMemoryData: options.contains(.queryMemoryData) && revalidation?.asksAlways != true
                        && query.includesDisk,
                    store: store,
                    storesOriginalInMemory: originalStore.includesMemory,
                    encodeOptions: encodeOptions,
                    serializer: store.includesDisk ? serializer.map { Identified($0) } : nil,
                    replaces: false
                )
            )
        )
    }

    /// What decodes and encodes.
    private func coder(for load: ResolvedLoad) -> any ImageCoder {
        let place = load.context?.decoding ?? load.parts?.values.decoding ?? .inProcess
        return place.within(domain: workerDomain).coder(
            insteadOf: load.context?.imageCoder ?? ImageCodersManager.shared
        )
    }

    /// The decode options of a load. Size options come from the context alone, because only those are part of the key: a
    /// scaled image must never lie under the key of the whole one.
    func decodeOptions(for key: String, _ load: ResolvedLoad) -> ImageDecodeOptions {
        let context = load.context
        var result = ImageDecodeOptions(context ?? WebImageContext(), options: load.options, key: key)
        result.thumbnailPixelSize = context?.thumbnailPixelSize.flatMap { $0.isUsable ? $0 : nil }
        result.preserveAspectRatio = context?.preserveAspectRatio ?? true
        result.thumbnailCovers = context?.thumbnailCovers ?? false
        if !policy.isTrusted { result.limits = policy.limits(within: result.limits) }
        return result
    }
}

extension Image {
    /// The image at the scale that a load means: loads with other scales find one entry of pixels. The pixels of a
    /// transformed image depend on the scale, and its key tells it.
    func scaled(to factor: Double) -> Image {
        metadata.isTransformed || scale == factor ? self : with(scale: factor)
    }

    /// Whether an image from memory serves a load with this byte limit (0 for none): one that was decoded with a lower
    /// limit is not the picture that the load means, though both have the same key. Nor is the first frame alone of an
    /// animation, unless that is what the load means, nor a damaged picture where damage is refused.
    func serves(_ options: ImageDecodeOptions) -> Bool {
        serves(scaleDownLimitBytes: options.scaleDownLimitBytes)
            && !(metadata.isDamaged && options.refusesDamagedData)
            && (options.decodeFirstFrameOnly || servesAsAnimation(isRequired: options.requiresAnimation))
    }

    func serves(scaleDownLimitBytes limit: Int) -> Bool {
        let own = metadata.scaleDownLimitBytes
        return own == 0 || (limit > 0 && limit <= own)
    }
}
