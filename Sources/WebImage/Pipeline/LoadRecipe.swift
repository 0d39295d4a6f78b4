/// Everything that decides how one image is got, resolved from a URL, options, context and the manager's parts.
final class LoadRecipe: Sendable {
    let decode: DecodeWork
    let chain: [any ImageTransformer]
    /// The key of the result; nil when the caches take no part.
    let cacheKey: String?
    let cache: any ImageCaching
    let queriesMemory: Bool
    let queriesDisk: Bool
    let queriesOriginalMemory: Bool
    let store: ImageCacheType
    let storesOriginalInMemory: Bool
    let encodeOptions: ImageEncodeOptions
    /// Will make the bytes that are written to disk; what was loaded is written as it came until then.
    let serializer: CacheSerializer?

    init(
        decode: DecodeWork,
        chain: [any ImageTransformer],
        cacheKey: String?,
        cache: any ImageCaching,
        queriesMemory: Bool,
        queriesDisk: Bool,
        queriesOriginalMemory: Bool,
        store: ImageCacheType,
        storesOriginalInMemory: Bool,
        encodeOptions: ImageEncodeOptions,
        serializer: CacheSerializer? = nil
    ) {
        self.decode = decode
        self.chain = chain
        self.cacheKey = cacheKey
        self.cache = cache
        self.queriesMemory = queriesMemory
        self.queriesDisk = queriesDisk
        self.queriesOriginalMemory = queriesOriginalMemory
        self.store = store
        self.storesOriginalInMemory = storesOriginalInMemory
        self.encodeOptions = encodeOptions
        self.serializer = serializer
    }

    var originalKey: String? { decode.data.cacheKey }
    /// Whether the result is the original itself, and not a thumbnail or transformed.
    var isOriginal: Bool { cacheKey == originalKey }
    /// Whether result and original are one entry of one cache.
    var isOriginalEntry: Bool { isOriginal && cache === decode.data.cache }
    /// Whether to look on disk for the result as it was stored. The original is looked for by ``DataWork``.
    var queriesDerivedDisk: Bool { queriesDisk && !(isOriginalEntry && decode.data.queriesDisk) }

    /// The memory that may hold results of shorter chains.
    var prefixMemory: (cache: any ImageCaching, baseKey: String)? {
        // The keys of shorter chains tell nothing of a scale of the context's.
        guard queriesMemory, let originalKey, decode.options.scaleFactor == ImageScaleFactor.forKey(originalKey) else {
            return nil
        }
        guard decode.options.isThumbnail, let size = decode.options.thumbnailPixelSize else {
            return (cache, originalKey)
        }
        let preserves = decode.options.preserveAspectRatio
        return (cache, CacheKeys.thumbnail(originalKey, size: size, preserveAspectRatio: preserves))
    }

    /// The result, if it lies in memory.
    func memoryHit() -> PipelineImage? {
        guard queriesMemory, let cacheKey, let image = cache.memoryImage(forKey: cacheKey),
            image.serves(scaleDownLimitBytes: decode.options.scaleDownLimitBytes)
        else { return nil }
        let scaled = image.scaled(to: decode.options.scaleFactor)
        return PipelineImage(image: scaled, source: .memory, stores: StoreGroup())
    }

    /// The original at full size, if it lies in memory, may be used and is of use.
    func originalMemoryHit() -> PipelineImage? {
        guard queriesOriginalMemory, !chain.isEmpty, !decode.options.isThumbnail, let originalKey,
            let image = decode.data.cache.memoryImage(forKey: originalKey),
            image.serves(scaleDownLimitBytes: decode.options.scaleDownLimitBytes)
        else { return nil }
        let scaled = image.scaled(to: decode.options.scaleFactor)
        return PipelineImage(image: scaled, source: .memory, stores: StoreGroup())
    }

    /// The image of an entry that was stored under the result's own key; nil if it is no picture.
    func decodeDerived(_ entry: CachedImageData) -> PipelineImage? {
        var options = decode.options
        if !isOriginal { options.thumbnailPixelSize = nil }
        guard var image = try? decode.coder.decode(entry.data, options: options) else { return nil }
        var metadata = image.metadata
        metadata.isThumbnail = decode.options.isThumbnail
        metadata.isTransformed = !chain.isEmpty
        image = image.with(metadata: metadata, extendedData: entry.extendedData)
        if let cacheKey, store.includesMemory {
            cache.store(image, data: nil, forKey: cacheKey, to: .memory, encodeOptions: encodeOptions, completion: nil)
        }
        return PipelineImage(image: image, data: entry.data, source: .disk, stores: StoreGroup())
    }

    /// Applies the whole chain.
    func transformed(_ input: PipelineImage) throws(WebImageError) -> PipelineImage {
        var image = input
        for transformer in chain { image = try image.transformed(by: transformer) }
        return image
    }

    /// Starts the writes that the result calls for.
    func stored(_ image: PipelineImage) -> PipelineImage {
        var image = image
        let group = StoreGroup()
        group.enter()
        image.stores.whenDone { group.leave() }
        if storesOriginalInMemory, !isOriginalEntry, let original = image.original, let originalKey {
            decode.data.cache.store(
                original,
                data: nil,
                forKey: originalKey,
                to: .memory,
                encodeOptions: encodeOptions,
                completion: nil
            )
        }
        // On disk nothing tells a result that a byte limit made smaller from one of the whole picture.
        let isLimited = image.image.metadata.scaleDownLimitBytes > 0 && !isOriginal
        let target = ImageCacheType(
            memory: store.includesMemory,
            disk: store.includesDisk && !isOnDisk(image) && !isLimited
        )
        if let cacheKey, target != .none {
            group.enter()
            var request = ImageStoreRequest(key: cacheKey, image: image.image, data: image.data)
            request.cacheType = target
            request.encodeOptions = encodeOptions
            request.coder = decode.coder
            cache.store(request) { group.leave() }
        }
        image.stores = group
        image.original = nil
        return image
    }

    /// Whether the bytes of the result lie on disk already, or are being written there as the original.
    private func isOnDisk(_ image: PipelineImage) -> Bool {
        guard isOriginalEntry else { return false }
        return image.source == .disk || decode.data.storesDisk
    }
}
