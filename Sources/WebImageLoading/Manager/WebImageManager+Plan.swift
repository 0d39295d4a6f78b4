import FoundationEssentials

extension WebImageManager {
    /// Resolves everything that determines how the image is loaded.
    ///
    /// - Parameters:
    ///   - revalidation: The rules for how long cached images stay usable; nil for forever.
    ///   - permission: Called before the loader is asked.
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
        // One key, one lookup: if the original is the result, the result's cache type applies.
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
                    url: IgnoredInEquality(value: url),
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

    /// The coder for decoding and encoding.
    private func coder(for load: ResolvedLoad) -> any ImageCoder {
        let place = load.context?.decoding ?? load.parts?.values.decoding ?? .inProcess
        return place.within(domain: workerDomain).coder(
            insteadOf: load.context?.imageCoder ?? ImageCodersManager.shared
        )
    }

    /// Returns the decode options of a load. Size options come only from the context, because only those are part of the key: a
    /// scaled image must never be stored under the key of the full-size one.
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
    /// Returns the image at the load's scale: loads with different scales share one entry of pixels. The pixels of a transformed
    /// image depend on the scale, which is part of its key.
    func scaled(to factor: Double) -> Image {
        metadata.isTransformed || scale == factor ? self : with(scale: factor)
    }

    /// Returns whether an image from memory is usable for a load with this byte limit (0 for none). An image decoded with a lower
    /// limit is not, though both have the same key. Neither is the first frame of an animation, unless the load wants only that,
    /// nor a damaged image if the load refuses damage.
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
