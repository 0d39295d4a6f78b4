extension LoadPlan {
    /// The stage that decodes an entry on disk, for queries of one cache.
    struct EntryImage: Hashable, Sendable {
        let cache: Identified<ImageCache, ObjectIdentifier>
        let cacheKey: String
        /// The generation of the key when the query started.
        var generation: Generation
        let coder: Identified<any ImageCoder, CoderIdentity>
        let options: ImageDecodeOptions
        /// The page that the entry contains according to its key, which ``options`` do not select then; 0 for none.
        let pageOfKey: Int
        /// The development that the entry contains according to its key; `preview` for none.
        let developmentOfKey: ImageDecodeOptions.RawDevelopment
        /// True if an image that another query has stored in memory meanwhile is used instead.
        let queriesMemory: Bool
        let storesInMemory: Bool
        /// The options that decide which images in memory are usable.
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
            var decodeOptions = ImageDecodeOptions(context, options: options, key: cacheKey)
            // An entry under the key of a page contains only that page.
            pageOfKey = CacheKeys.mayBe(page: decodeOptions.page, cacheKey) ? decodeOptions.page : 0
            if pageOfKey != 0 { decodeOptions.page = 0 }
            developmentOfKey = CacheKeys.mayBe(decodeOptions.rawDevelopment, cacheKey) ? .full : .preview
            if developmentOfKey == .full { decodeOptions.rawDevelopment = .preview }
            self.options = decodeOptions
            self.queriesMemory = queriesMemory
            storesInMemory = context.storeCacheType?.includesMemory ?? true
            memoryOptions = options.intersection([.decodeFirstFrameOnly, .matchAnimatedImageClass])
        }

        /// The same query with the current generation.
        var renewed: EntryImage {
            var copy = self
            copy.generation = cache.value.generation(forKey: cacheKey)
            return copy
        }
    }
}

/// Decodes an entry of a disk cache and stores it in memory, once for all concurrent equal queries (single flight). Does not use a
/// loader.
struct EntryImageWork: Work {
    let plan: Boxed<LoadPlan.EntryImage>

    var cache: ImageCache { plan.value.cache.value }
    var coder: any ImageCoder { plan.value.coder.value }
    var options: ImageDecodeOptions { plan.value.options }

    var key: WorkKey { .entryImage(plan) }

    /// The read of the entry, shared with loads and other queries.
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
                // A refused decode returns no image, and neither do invalid data.
                job.finish(.success(.query(image(of: entry, (try? given.get()) ?? nil))))
            }
            job.hold(item)
        }
    }

    /// Decodes the bytes of an entry and stores the image in memory. If another query of the key has stored an image meanwhile,
    /// returns that one, without the bytes if they may belong to another. Invalid data give a result without an image.
    ///
    /// - Parameter given: The decode options; nil if the memory could not be reserved.
    private func image(of entry: CachedImageData, _ given: ImageDecodeOptions?) -> ImageCacheResult {
        if plan.value.queriesMemory, let image = imageInMemory,
            !(image.metadata.isDamaged && options.refusesDamagedData)
        {
            return ImageCacheResult(image: image, data: isCurrent ? entry.data : nil, cacheType: .memory)
        }
        let given = given.map { selecting($0, in: entry) }
        guard let given, let decoded = try? coder.completeImage(of: entry.data, options: given) else {
            return ImageCacheResult(data: entry.data, cacheType: .disk)
        }
        cache.budget.made(decoded)
        // In memory it equals an image stored by a load, and a refresh needs the hash of its source.
        let image = decoded.with(sourceHash: entry.sourceHash, extendedData: entry.extendedData)
        if plan.value.storesInMemory { putIntoMemory(image, decodedWith: given) }
        return ImageCacheResult(image: image, data: entry.data, cacheType: .disk)
    }

    /// Selects the page or the development in an original whose own name looks like the key of one.
    private func selecting(_ options: ImageDecodeOptions, in entry: CachedImageData) -> ImageDecodeOptions {
        var options = options
        let page = plan.value.pageOfKey
        if page != 0, let count = try? coder.properties(of: entry.data, limits: options.limits).pageCount, count > page
        {
            options.page = page
        }
        if plan.value.developmentOfKey == .full, ImageFormat(detecting: entry.data) == .raw {
            options.rawDevelopment = .full
        }
        return options
    }

    /// Decodes on the caller's thread, within the budget and without waiting for others.
    func imageNow(of entry: CachedImageData) -> ImageCacheResult {
        let result = try? cache.budget.perform(.decode(entry.data, coder, options)) { image(of: entry, $0) }
        return result ?? image(of: entry, nil)
    }

    /// The image currently in memory.
    var imageInMemory: Image? { cache.imageFromMemory(forKey: plan.value.cacheKey, options: plan.value.memoryOptions) }

    /// True if the key has not changed since the query started.
    var isCurrent: Bool { cache.isCurrent(plan.value.generation, forKey: plan.value.cacheKey) }

    /// Stores an image decoded from disk in memory: a thumbnail under a separate key; an image scaled down by a byte limit not at all,
    /// since its key is that of the full-size one. Skipped if the key was stored or removed since the disk was read: memory must not
    /// restore a removed image.
    private func putIntoMemory(_ image: Image, decodedWith options: ImageDecodeOptions) {
        guard cache.config.shouldCacheImagesInMemory else { return }
        let isWhole = image.pixelWidth * image.pixelHeight >= image.metadata.sourceWidth * image.metadata.sourceHeight
        let isPlainThumbnail = image.metadata.isThumbnail && image.metadata.scaleDownLimitBytes == 0
        if options.scaleDownLimitBytes > 0, !isWhole, !isPlainThumbnail { return }
        // A first frame would be mistaken for the animation.
        if image.metadata.isFirstFrame { return }
        var key = CacheKeys.selection(plan.value.cacheKey, options.page, options.rawDevelopment)
        if let size = options.thumbnailPixelSize, size.isUsable {
            let (preserves, covers) = (options.preserveAspectRatio, options.thumbnailCovers)
            let isOwnKey = CacheKeys.mayBeThumbnail(key, size: size, preserveAspectRatio: preserves, covers: covers)
            if !isOwnKey { key = CacheKeys.thumbnail(key, size: size, preserveAspectRatio: preserves, covers: covers) }
        }
        guard isCurrent else { return }
        cache.memoryCache.setImage(image, forKey: key, cost: image.memoryCost)
        // The key changed between the check and the store; a newer image stays.
        if !isCurrent { cache.memoryCache.removeImage(image, forKey: key) }
    }
}

extension WorkResult {
    /// The entry read from a disk.
    var diskEntry: CachedImageData? { if case .success(.diskEntry(let entry)) = self { entry } else { nil } }

    /// The result of a query.
    var query: ImageCacheResult { if case .success(.query(let result)) = self { result } else { ImageCacheResult() } }
}
