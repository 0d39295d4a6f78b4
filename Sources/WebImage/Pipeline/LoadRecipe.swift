import FoundationEssentials

/// Everything that decides how one image is got, resolved from a URL, options, context and the manager's parts.
final class LoadRecipe: Sendable {
    let url: URL
    let decode: DecodeWork
    let chain: [any ImageTransformer]
    /// What the chain is applied to; open without a chain.
    let gate: TransformGate
    /// The key of the result; nil when the caches take no part.
    let cacheKey: String?
    let cache: any ImageCaching
    let queriesMemory: Bool
    let queriesDisk: Bool
    let queriesOriginalMemory: Bool
    let store: ImageCacheType
    let storesOriginalInMemory: Bool
    let encodeOptions: ImageEncodeOptions
    /// Makes the bytes that are written to disk; nil when nothing is.
    let serializer: CacheSerializer?
    /// Whether what lies under the key is out of date.
    let replaces: Bool

    init(
        url: URL,
        decode: DecodeWork,
        chain: [any ImageTransformer],
        gate: TransformGate = .open,
        cacheKey: String?,
        cache: any ImageCaching,
        queriesMemory: Bool,
        queriesDisk: Bool,
        queriesOriginalMemory: Bool,
        store: ImageCacheType,
        storesOriginalInMemory: Bool,
        encodeOptions: ImageEncodeOptions,
        serializer: CacheSerializer? = nil,
        replaces: Bool = false
    ) {
        self.url = url
        self.decode = decode
        self.chain = chain
        self.gate = chain.isEmpty ? .open : gate
        self.cacheKey = cacheKey
        self.cache = cache
        self.queriesMemory = queriesMemory
        self.queriesDisk = queriesDisk
        self.queriesOriginalMemory = queriesOriginalMemory
        self.store = store
        self.storesOriginalInMemory = storesOriginalInMemory
        self.encodeOptions = encodeOptions
        self.serializer = store.includesDisk ? serializer : nil
        self.replaces = replaces
    }

    var originalKey: String? { decode.data.cacheKey }
    /// Whether the result is the original itself, and not a thumbnail or transformed.
    var isOriginal: Bool { cacheKey == originalKey }
    /// Whether result and original are one entry of one cache.
    var isOriginalEntry: Bool { isOriginal && cache === decode.data.cache }
    /// Whether to look on disk for the result as it was stored. The original is looked for by ``DataWork``.
    var queriesDerivedDisk: Bool { queriesDisk && !(isOriginalEntry && decode.data.queriesDisk) }

    /// The key of what the chain is applied to.
    var untransformedKey: String? {
        guard let originalKey else { return nil }
        guard decode.options.isThumbnail, let size = decode.options.thumbnailPixelSize else { return originalKey }
        return CacheKeys.thumbnail(
            originalKey,
            size: size,
            preserveAspectRatio: decode.options.preserveAspectRatio,
            covers: decode.options.thumbnailCovers
        )
    }

    /// The memory that may hold results of shorter chains.
    var prefixMemory: (cache: any ImageCaching, baseKey: String)? {
        // The keys of shorter chains tell nothing of a scale of the context's.
        guard queriesMemory, let originalKey, decode.options.scaleFactor == ImageScaleFactor.forKey(originalKey),
            let untransformedKey
        else { return nil }
        return (cache, untransformedKey)
    }

    /// The result, if it lies in memory.
    func memoryHit() -> PipelineImage? {
        guard queriesMemory, let cacheKey else { return nil }
        guard let image = memoryImage(forKey: cacheKey, of: cache) else { return untransformedMemoryHit() }
        return PipelineImage(image: image, source: .memory, stores: StoreGroup())
    }

    /// The result, if it lies in memory under another key because it must not be transformed.
    func untransformedMemoryHit() -> PipelineImage? {
        guard queriesMemory, gate != .open, let key = untransformedKey,
            let image = memoryImage(forKey: key, of: cache), !gate.admits(image)
        else { return nil }
        return PipelineImage(image: image, source: .memory, cacheKey: key, stores: StoreGroup())
    }

    /// The original at full size, if it lies in memory, may be used and is of use.
    func originalMemoryHit() -> PipelineImage? {
        guard queriesOriginalMemory, !chain.isEmpty, !decode.options.isThumbnail, let originalKey,
            let image = memoryImage(forKey: originalKey, of: decode.data.cache)
        else { return nil }
        return PipelineImage(image: image, source: .memory, stores: StoreGroup())
    }

    private func memoryImage(forKey key: String, of cache: any ImageCaching) -> Image? {
        let options = decode.options
        guard let image = cache.memoryImage(forKey: key), image.serves(options) else { return nil }
        return (options.decodeFirstFrameOnly ? image.still : image).scaled(to: options.scaleFactor)
    }

    /// How an entry is decoded that was stored under the result's own key.
    var derivedOptions: ImageDecodeOptions {
        var options = decode.options
        if !isOriginal { options.thumbnailPixelSize = nil }
        return options
    }

    /// The image of an entry that was stored under the result's own key; nil if it is no picture.
    ///
    /// - Parameter admission: what was asked for with ``derivedOptions``.
    func decodeDerived(
        _ entry: CachedImageData,
        _ admission: DecodeAdmission,
        _ trace: LoadTrace
    ) -> PipelineImage? {
        try? trace.decoding(entry.data.count) { () throws(WebImageError) in
            let image = try admission.completeImage(of: entry.data, by: decode.coder)
            var metadata = image.metadata
            metadata.isThumbnail = decode.options.isThumbnail
            metadata.isTransformed = !chain.isEmpty
            metadata.sourceHash = isOriginal ? entry.source.hash : entry.validators?.receivedHash ?? 0
            return PipelineImage(
                image: image.with(metadata: metadata, extendedData: entry.extendedData),
                data: entry.data,
                source: .disk,
                stores: StoreGroup()
            )
        }
    }

    /// Applies the whole chain, or nothing of it.
    func transformed(_ input: PipelineImage, _ trace: LoadTrace) throws(WebImageError) -> PipelineImage {
        guard gate.admits(input.image) else { return input }
        var image = input
        for transformer in chain { image = try trace.transforming(image, by: transformer) }
        return image
    }
}
