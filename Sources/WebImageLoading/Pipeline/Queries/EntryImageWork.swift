extension LoadPlan {
    /// Making an image of an entry on disk, for queries of one cache.
    struct EntryImage: Hashable, Sendable {
        let cache: Identified<ImageCache, ObjectIdentifier>
        let cacheKey: String
        /// Of the key when the query began.
        var generation: Generation
        let coder: Identified<any ImageCoder, CoderIdentity>
        let options: ImageDecodeOptions
        /// Whether an image that another query has put into memory meanwhile is taken instead.
        let queriesMemory: Bool
        let storesInMemory: Bool
        /// Those that say what may be taken from memory.
        let memoryOptions: WebImageOptions

        init(
            cache: ImageCache,
            cacheKey: String,
            generation: Generation,
            options: WebImageOptions,
            context: WebImageContext?,
            queriesMemory: Bool
        ) {
            let context = context ?? WebImageContext()
            let coder = context.coder()
            self.cache = Identified(cache)
            self.cacheKey = cacheKey
            self.generation = generation
            self.coder = Identified(coder, by: CoderIdentity(coder))
            self.options = ImageDecodeOptions(context, options: options, key: cacheKey)
            self.queriesMemory = queriesMemory
            storesInMemory = context.storeCacheType?.includesMemory ?? true
            memoryOptions = options.intersection([.decodeFirstFrameOnly, .matchAnimatedImageClass])
        }

        /// The same query, begun now.
        var renewed: EntryImage {
            var copy = self
            copy.generation = cache.value.generation(forKey: cacheKey)
            return copy
        }
    }
}

/// Makes an image of an entry of a disk cache and puts it into memory, once for all queries of the same at the same time. No loader is
/// asked.
struct EntryImageWork: Work {
    let plan: Boxed<LoadPlan.EntryImage>

    var cache: ImageCache { plan.value.cache.value }
    var coder: any ImageCoder { plan.value.coder.value }
    var options: ImageDecodeOptions { plan.value.options }

    var key: WorkKey { .entryImage(plan) }

    /// The read of the entry, which loads and other queries share.
    var read: DiskReadWork {
        let entry = LoadPlan.DiskEntry(cache: cache, cacheKey: plan.value.cacheKey, generation: plan.value.generation)
        return DiskReadWork(plan: Boxed(entry))
    }

    func start(_ job: WorkJob) {
        job.require(read) { result in
            guard case .success(.diskEntry(let entry?)) = result else {
                return job.finish(.success(.query(ImageCacheResult())))
            }
            let cost = MemoryCost.decode(entry.data, coder, options)
            let item = cache.codingQueue.submit(cost: cost, of: cache.budget, priority: job.priority) { given in
                guard !job.isCancelled else { return }
                // What is refused has no image; nor has data that cannot be decoded.
                job.finish(.success(.query(image(of: entry, (try? given.get()) ?? nil))))
            }
            job.hold(item)
        }
    }

    /// The image of an entry's bytes, put into memory. Another query of the key may have done so meanwhile: then its image,
    /// without the bytes if it may be of others. Data that cannot be decoded gives a result without an image.
    ///
    /// - Parameter given: with what it is decoded; nil where there is no room for that.
    private func image(of entry: CachedImageData, _ given: ImageDecodeOptions?) -> ImageCacheResult {
        if plan.value.queriesMemory, let image = imageInMemory,
            !(image.metadata.isDamaged && options.refusesDamagedData)
        {
            return ImageCacheResult(image: image, data: isCurrent ? entry.data : nil, cacheType: .memory)
        }
        guard let given, let decoded = try? coder.completeImage(of: entry.data, options: given) else {
            return ImageCacheResult(data: entry.data, cacheType: .disk)
        }
        cache.budget.made(decoded)
        // In memory it stands for what a load would have put there, and a refresh asks what it was made of.
        let image = decoded.with(sourceHash: entry.sourceHash, extendedData: entry.extendedData)
        if plan.value.storesInMemory { putIntoMemory(image, decodedWith: given) }
        return ImageCacheResult(image: image, data: entry.data, cacheType: .disk)
    }

    /// The same on the caller's thread, within the budget and without waiting for others.
    func imageNow(of entry: CachedImageData) -> ImageCacheResult {
        let result = try? cache.budget.perform(.decode(entry.data, coder, options)) { image(of: entry, $0) }
        return result ?? image(of: entry, nil)
    }

    /// The image that is in memory now.
    var imageInMemory: Image? { cache.imageFromMemory(forKey: plan.value.cacheKey, options: plan.value.memoryOptions) }

    /// Whether the key has not changed since the query began.
    var isCurrent: Bool { cache.isCurrent(plan.value.generation, forKey: plan.value.cacheKey) }

    /// Puts an image that was decoded from disk into memory: a thumbnail under its own key, and an image that a byte limit made smaller
    /// not at all, since no key tells it from the whole one. Nor is it when the key was stored to or removed since the disk was read:
    /// memory must not bring back what is gone.
    private func putIntoMemory(_ image: Image, decodedWith options: ImageDecodeOptions) {
        guard cache.config.shouldCacheImagesInMemory else { return }
        let isWhole = image.pixelWidth * image.pixelHeight >= image.metadata.sourceWidth * image.metadata.sourceHeight
        let isPlainThumbnail = image.metadata.isThumbnail && image.metadata.scaleDownLimitBytes == 0
        if options.scaleDownLimitBytes > 0, !isWhole, !isPlainThumbnail { return }
        // The first frame alone of an animation would pass for the animation.
        if image.metadata.isFirstFrame { return }
        var key = plan.value.cacheKey
        if let size = options.thumbnailPixelSize, size.isUsable, !CacheKeys.isThumbnail(key) {
            key = CacheKeys.thumbnail(
                key,
                size: size,
                preserveAspectRatio: options.preserveAspectRatio,
                covers: options.thumbnailCovers
            )
        }
        guard isCurrent else { return }
        cache.memoryCache.setImage(image, forKey: key, cost: image.memoryCost)
        // A change between the two: its own image may be there by now, and stays.
        if !isCurrent { cache.memoryCache.removeImage(image, forKey: key) }
    }
}

extension WorkResult {
    /// What was read of a disk.
    var diskEntry: CachedImageData? { if case .success(.diskEntry(let entry)) = self { entry } else { nil } }

    /// What a query found.
    var query: ImageCacheResult { if case .success(.query(let result)) = self { result } else { ImageCacheResult() } }
}
