import FoundationEssentials

/// A query that has got as far as the disk.
struct DiskImageQuery: Sendable {
    let key: String
    let options: WebImageOptions
    let context: WebImageContext
    let cacheType: ImageCacheType
    /// Of the key, before the disk was read.
    let mark: WriteMarks.Mark

    init(
        _ key: String,
        options: WebImageOptions,
        context: WebImageContext?,
        cacheType: ImageCacheType,
        mark: WriteMarks.Mark
    ) {
        self.key = key
        self.options = options
        self.context = context ?? WebImageContext()
        self.cacheType = cacheType
        self.mark = mark
    }

    /// The same query begun anew.
    func with(mark: WriteMarks.Mark) -> DiskImageQuery {
        DiskImageQuery(key, options: options, context: context, cacheType: cacheType, mark: mark)
    }

    var readKey: ReadKey { ReadKey(key: MemoryCacheKey(key), mark: mark) }
    var decodeOptions: ImageDecodeOptions { ImageDecodeOptions(context, options: options, key: key) }
    var coder: any ImageCoder { context.coder() }
    var storesToMemory: Bool { context.storeCacheType?.includesMemory ?? true }
}

extension ImageCache {
    /// The image of an entry's bytes, put into memory. Another query of the key may have done so meanwhile: then its image,
    /// without the bytes if it may be of others. Data that cannot be decoded gives a result without an image.
    ///
    /// - Parameter admission: nil where there is no room to decode it.
    func decode(
        _ entry: CachedImageData,
        for query: DiskImageQuery,
        _ admission: DecodeAdmission?
    ) -> ImageCacheResult {
        if query.cacheType.includesMemory, let image = imageFromMemory(forKey: query.key, options: query.options),
            !(image.metadata.isDamaged && query.decodeOptions.refusesDamagedData)
        {
            return ImageCacheResult(image: image, data: isCurrent(query) ? entry.data : nil, cacheType: .memory)
        }
        guard let admission, let decoded = try? admission.completeImage(of: entry.data, by: query.coder) else {
            return ImageCacheResult(data: entry.data, cacheType: .disk)
        }
        // In memory it stands for what a load would have put there, and a refresh asks what it was made of.
        let image = decoded.with(sourceHash: entry.source.hash, extendedData: entry.extendedData)
        if query.storesToMemory { putIntoMemory(image, for: query, decodedWith: admission.options) }
        return ImageCacheResult(image: image, data: entry.data, cacheType: .disk)
    }

    /// Within which it decodes.
    var budget: DecodedMemoryBudget { decodeBudget.withLock { $0 } ?? .shared }

    /// The same on the caller's thread, within the budget and without waiting for others.
    func decodeNow(_ entry: CachedImageData, for query: DiskImageQuery) -> ImageCacheResult {
        var result: ImageCacheResult?
        let coder = query.coder
        let room = try? budget.decodeNow(entry.data, coder: coder, options: query.decodeOptions) {
            (admission) throws(WebImageError) in
            let decoded = decode(entry, for: query, admission)
            result = decoded
            guard let image = decoded.image else { throw WebImageError(.badImageData, "the entry is no picture") }
            return image
        }
        // By now it is where the budget finds it.
        room?.end()
        return result ?? decode(entry, for: query, nil)
    }

    /// Whether the key has not changed since the query was begun.
    func isCurrent(_ query: DiskImageQuery) -> Bool {
        marks.withLock { $0.isCurrent(query.mark, of: query.key) }
    }

    /// Puts an image that was decoded from disk into memory: a thumbnail under its own key, and a picture that a byte limit
    /// made smaller not at all, since no key tells it from the whole one. Nor is it when the key was stored to or removed
    /// since the disk was read: memory must not bring back what is gone.
    private func putIntoMemory(_ image: Image, for query: DiskImageQuery, decodedWith options: ImageDecodeOptions) {
        guard config.shouldCacheImagesInMemory else { return }
        let isWhole = image.pixelWidth * image.pixelHeight >= image.metadata.sourceWidth * image.metadata.sourceHeight
        let isPlainThumbnail = image.metadata.isThumbnail && image.metadata.scaleDownLimitBytes == 0
        if options.scaleDownLimitBytes > 0, !isWhole, !isPlainThumbnail { return }
        // The first frame alone of an animation would pass for the animation.
        if image.metadata.isFirstFrame { return }
        var key = query.key
        if let size = options.thumbnailPixelSize, size.isUsable, !CacheKeys.isThumbnail(key) {
            key = CacheKeys.thumbnail(
                key,
                size: size,
                preserveAspectRatio: options.preserveAspectRatio,
                covers: options.thumbnailCovers
            )
        }
        guard isCurrent(query) else { return }
        memoryCache.setImage(image, forKey: key, cost: image.memoryCost)
        // A change between the two: its own image may be there by now, and stays.
        if !isCurrent(query) { memoryCache.removeImage(image, forKey: key) }
    }
}

extension ImageDecodeOptions {
    /// The decode options that a load's context and options mean: those of the context's own properties win over its
    /// ``WebImageContext/decodeOptions``. For caches and loaders of one's own that decode.
    ///
    /// - Parameters:
    ///   - context: what the load says of decoding.
    ///   - options: those that concern decoding are looked at.
    ///   - key: tells the scale (`@2x`), where the context does not.
    public init(_ context: WebImageContext, options: WebImageOptions, key: String) {
        self = context.decodeOptions ?? ImageDecodeOptions()
        if options.contains(.decodeFirstFrameOnly) { decodeFirstFrameOnly = true }
        if options.contains(.preloadAllFrames) { preloadsAllFrames = true }
        if options.contains(.matchAnimatedImageClass) { requiresAnimation = true }
        if let factor = context.imageScaleFactor, factor >= 1 {
            scaleFactor = factor
        } else if scaleFactor == 1 {
            scaleFactor = ImageScaleFactor.forKey(key)
        }
        if let size = context.thumbnailPixelSize { thumbnailPixelSize = size }
        if let preserve = context.preserveAspectRatio { preserveAspectRatio = preserve }
        if let covers = context.thumbnailCovers { thumbnailCovers = covers }
        switch context.formatHint {
        case .inherited: break
        case .none: formatHint = nil
        case .format(let format): formatHint = format
        }
        if let decodesToHDR = context.decodeToHDR { decodeToHDR = decodesToHDR }
        if let limit = context.scaleDownLimitBytes {
            scaleDownLimitBytes = limit
        } else if options.contains(.scaleDownLargeImages), scaleDownLimitBytes == 0 {
            scaleDownLimitBytes = Self.defaultScaleDownLimitBytes
        }
    }
}

extension WebImageOptions {
    /// How urgent a load with these options is.
    var loadPriority: LoadPriority {
        if contains(.highPriority) { return .high }
        return contains(.lowPriority) ? .low : .normal
    }
}
