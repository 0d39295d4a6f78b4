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
        let query = asksCaches ? context.queryCacheType ?? .all : .none
        var originalQuery = asksCaches ? context.originalQueryCacheType ?? .disk : .none
        // One key, one lookup: if the original is the result, the result's cache type applies.
        if isOriginal { originalQuery = ImageCacheType(memory: false, disk: query.includesDisk) }
        var store = context.storeCacheType ?? .all
        let originalStore = context.originalStoreCacheType ?? .disk
        let serializer = serializer(for: load)
        let fetch = LoadPlan.Fetch(
            ImageLoadRequest(url, options, load.context),
            by: loader(for: load),
            rights: rights(of: url, load)
        )
        let decodeOptions = decodeOptions(for: originalKey ?? url.absoluteString, load)
        let coder = coder(for: load)
        let transformers = transformer(for: load).map { PipelineTransformer([$0]).flattened } ?? []
        let gate = TransformGate(options, decodesFirstFrameOnly: decodeOptions.decodeFirstFrameOnly)
        let chain = LoadPlan.Chain(transformers, gate: gate)
        // On disk, a still is JPEG.
        let usesDisk = !(fetch.readsParts && decodeOptions.decodeToHDR)
        let variantKind =
            usesDisk && cache === originalCache && recordsVariants(load, cache)
            ? LoadPlan.variantKind(decodeOptions, coder: coder, chain) : nil
        let original = LoadPlan.Original(
            fetch: options.contains(.fromCacheOnly) ? nil : Boxed(fetch),
            cache: originalCache,
            cacheKey: originalKey,
            queriesDisk: originalQuery.includesDisk && usesDisk,
            storesDisk: originalStore.includesDisk && usesDisk,
            revalidation: revalidation,
            permission: permission,
            rule: storageRule(url, load),
            entryRule: EntryRule(policy),
            serializer: serializer,
            sharingScope: sharingScope(fetch, originalCache),
            keepsVariants: variantKind != nil
        )
        let encodeOptions = context.encodeOptions.flatMap { $0 == ImageEncodeOptions() ? nil : Boxed($0) }
        let decode = LoadPlan.Decode(
            original: Boxed(original),
            coder: coder,
            options: decodeOptions,
            thumbnails: desktopThumbnails(for: load, original, decodeOptions),
            encodeOptions: encodeOptions,
            isProgressive: options.contains(.progressiveLoad),
            notesSource: originalKey != nil && [query, originalQuery, store, originalStore].contains { $0 != .none },
            transformer: transformers.first
        )
        if !usesDisk { store = ImageCacheType(memory: store.includesMemory, disk: false) }
        let scalesVariants =
            sizeReuse(for: load) != .none && query.includesMemory
            // A scaled image has no encoded bytes.
            && !options.contains(.queryMemoryData)
            && mayScaleVariant(of: originalKey, cache, chain, decodeOptions)
        return LoadPlan(
            result: Boxed(
                LoadPlan.Result(
                    url: IgnoredInEquality(value: url),
                    decode: Boxed(decode),
                    chain: chain,
                    cache: Identified(cache, by: ObjectIdentifier(cache)),
                    cacheKey: resultKey,
                    queriesMemory: query.includesMemory,
                    queriesDisk: query.includesDisk && usesDisk,
                    queriesOriginalMemory: originalQuery.includesMemory,
                    scalesVariants: scalesVariants,
                    // A scaled image has no encoded bytes.
                    readsVariants: variantKind != nil && query.includesDisk && originalQuery.includesDisk
                        && !options.contains(.queryMemoryData),
                    variantKind: variantKind,
                    readsMemoryData: options.contains(.queryMemoryData) && revalidation?.asksAlways != true
                        && query.includesDisk && usesDisk,
                    store: store,
                    storesOriginalInMemory: originalStore.includesMemory,
                    encodeOptions: encodeOptions,
                    serializer: store.includesDisk ? serializer.map { Identified($0) } : nil,
                    replaces: false
                )
            )
        )
    }

    /// Returns the group of loads on all machines that may share the images of a load; nil if none may. Nothing is looked at for the
    /// library's own cache, which asks nobody else.
    private func sharingScope(_ fetch: LoadPlan.Fetch, _ cache: any ImageCaching) -> String? {
        guard !(cache is ImageCache), fetch.rights.digest == nil, fetch.rights.isKnown, fetch.hooks == nil,
            !fetch.options.contains(.handleCookies), !fetch.options.contains(.allowInvalidSSLCertificates),
            fetch.loader.value.loadsForEveryone
        else { return nil }
        return policy.sharingScope
    }

    /// Returns whether the result may be made by scaling an image of another size. False if there is none in memory now: then the work is
    /// shared with loads that do not reuse sizes, as the result is the same.
    private func mayScaleVariant(
        of originalKey: String?,
        _ cache: any ImageCaching,
        _ chain: LoadPlan.Chain,
        _ options: ImageDecodeOptions
    ) -> Bool {
        guard let originalKey, let cache = cache.localImageCache, options.isThumbnail, chain.isSizeCovariant else {
            return false
        }
        return cache.variants(of: originalKey).contains { $0.isExact }
    }

    /// Returns whether images of other sizes on disk are used and recorded. Another process does not know a load's own coder.
    private func recordsVariants(_ load: ResolvedLoad, _ cache: any ImageCaching) -> Bool {
        sizeReuse(for: load) == .disk && load.context.imageCoder == nil
            && cache.localImageCache?.recordsVariants ?? false
    }

    /// The coder for decoding and encoding.
    private func coder(for load: ResolvedLoad) -> any ImageCoder {
        let context = load.context
        let place = context.decoding ?? load.parts?.values.decoding ?? .inProcess
        return place.within(domain: workerDomain).coder(insteadOf: context.imageCoder ?? ImageCodersManager.shared)
    }

    /// Returns the desktop's thumbnails, if the load may use one in place of the original.
    private func desktopThumbnails(
        for load: ResolvedLoad,
        _ original: LoadPlan.Original,
        _ options: ImageDecodeOptions
    ) -> DesktopThumbnailCache? {
        guard let thumbnails = load.parts?.values.desktopThumbnails, policy.isTrusted,
            let fetch = original.fetch?.value,
            fetch.loader.value is FileImageLoader, original.revalidation == nil,
            !load.options.contains(.fromLoaderOnly), load.context.queryCacheType?.includesDisk ?? true,
            // Another coder may show a file otherwise than the program that made the thumbnail.
            load.context.imageCoder == nil, options.acceptsDesktopThumbnail
        else { return nil }
        return thumbnails
    }

    /// Returns the decode options of a load. Page, time, development and size come only from the context, because only its values are
    /// part of the key: a scaled image must never be stored under the key of the full-size one.
    func decodeOptions(for key: String, _ load: ResolvedLoad) -> ImageDecodeOptions {
        let context = load.context
        var result = ImageDecodeOptions(context, options: load.options, key: key)
        result.thumbnailPixelSize = context.thumbnailPixelSize.flatMap { $0.isUsable ? $0 : nil }
        result.preserveAspectRatio = context.preserveAspectRatio ?? true
        result.thumbnailCovers = context.thumbnailCovers ?? false
        result.page = context.page ?? 0
        result.rawDevelopment = context.rawDevelopment ?? .preview
        result.videoTime = context.videoTime
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

/// The options and context of a load after the manager's options processor.
struct ResolvedLoad: Sendable {
    var options: WebImageOptions
    /// Empty if the load has none: each access to a property of an optional context would copy the whole context.
    var context: WebImageContext
    /// The manager's own components when the load started.
    let parts: WebImageManager.Parts?

    /// The same load, called back on the thread that ends its work.
    var inline: ResolvedLoad {
        var load = self
        load.context.callbackQueue = .inline
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
        // The options that a policy forbids. Its decoding limits are applied with the decode options.
        if !policy.isTrusted { load.options.subtract([.handleCookies, .allowInvalidSSLCertificates]) }
        return load
    }

    private func processed(_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext?) -> ResolvedLoad {
        let parts = parts
        guard let values = parts?.values, let processor = values.optionsProcessor else {
            return ResolvedLoad(options: options, context: context ?? WebImageContext(), parts: parts)
        }
        var full = context ?? WebImageContext()
        if case .inherited = full.imageTransformer, let transformer = values.transformer {
            full.imageTransformer = .transformer(transformer)
        }
        if full.cacheKeyFilter == nil { full.cacheKeyFilter = values.cacheKeyFilter }
        if full.cacheSerializer == nil, let serializer = values.cacheSerializer { full.cacheSerializer = serializer }
        let result = processor.process(url, options: options, context: full)
        return ResolvedLoad(
            options: result?.options ?? options,
            context: result?.context ?? context ?? WebImageContext(),
            parts: parts
        )
    }
    func cache(for load: ResolvedLoad) -> any ImageCaching { load.context.imageCache ?? imageCache }

    func originalCache(for load: ResolvedLoad) -> any ImageCaching {
        load.context.originalImageCache ?? cache(for: load)
    }

    func loader(for load: ResolvedLoad) -> any ImageLoading { load.context.imageLoader ?? imageLoader }

    func serializer(for load: ResolvedLoad) -> CacheSerializer? {
        load.context.cacheSerializer ?? load.parts?.values.cacheSerializer
    }

    /// Returns whether a load uses images of other sizes.
    func sizeReuse(for load: ResolvedLoad) -> SizeReuse { load.context.sizeReuse ?? sizeReuse }

    /// The policy that decides how long a cached image stays usable for a load.
    func cachePolicy(for load: ResolvedLoad) -> CachePolicy {
        load.context.cachePolicy ?? load.parts?.values.cachePolicy ?? .immutable
    }
}

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
