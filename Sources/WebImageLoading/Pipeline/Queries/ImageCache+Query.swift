public import FoundationEssentials

/// Queries are loads without a loader: they share reads and decodes with each other, and reads with loads.
extension ImageCache {
    /// Looks for an image: in memory, then on disk, where it is decoded and put into memory.
    ///
    /// A memory hit is delivered before the call returns, on the caller's thread, and so is everything with
    /// ``WebImageOptions/queryDiskDataSync``, which reads and decodes on the caller's thread. Otherwise the result comes on
    /// the context's callback queue (the main one by default). Queries of the same at the same time read and decode once.
    ///
    /// With ``WebImageOptions/queryMemoryData`` a memory hit comes with the bytes that are stored with it, if there are any,
    /// and so later, unless ``WebImageOptions/queryMemoryDataSync`` is there too or the disk is not to be looked at. Image and
    /// bytes are of one store: when others were stored meanwhile, the image is made of the bytes. (Not so for an image of the
    /// caller's own, of which nobody knows what bytes it was made of, when only one of memory and disk was written, or when
    /// ``ImageCacheConfig/writesWithoutOverwriting`` kept the bytes of before.)
    ///
    /// - Parameters:
    ///   - key: the key; without one the result is empty.
    ///   - options: `queryDiskDataSync`, `queryMemoryData`, `queryMemoryDataSync`, `decodeFirstFrameOnly`, `scaleDownLargeImages`, and the priorities have a meaning.
    ///   - context: the callback queue, the coder, the decode options, and, if given, the cache type that the image is stored
    ///     to when it comes from disk.
    ///   - cacheType: where to look.
    ///   - completion: called exactly once. The result says where the image came from; data is given when it came from disk,
    ///     or was asked for.
    @discardableResult
    public func queryImage(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        cacheType: ImageCacheType = .all,
        completion: @escaping @Sendable (ImageCacheResult) -> Void
    ) -> ImageCacheToken {
        let token = ImageCacheToken(key: key, callbackQueue: context?.callbackQueue ?? .main, completion: completion)
        guard !key.isEmpty, cacheType != .none else {
            token.result.finish(ImageCacheResult())
            return token
        }
        if cacheType.includesMemory {
            let wantsData = options.contains(.queryMemoryData) && cacheType.includesDisk
            // Before memory is looked at, so that a change in between is noticed.
            let before = wantsData ? work(forKey: key, options, context, queriesMemory: false) : nil
            let image = imageFromMemory(forKey: key, options: options)
            if let image, let before {
                addData(to: image, before, options, token)
                return token
            }
            if image != nil || cacheType == .memory {
                token.result.finish(ImageCacheResult(image: image, cacheType: image == nil ? .none : .memory))
                return token
            }
        }
        let work = work(forKey: key, options, context, queriesMemory: cacheType.includesMemory)
        if options.contains(.queryDiskDataSync) {
            token.result.finish(readEntry(forKey: key).map { work.imageNow(of: $0) } ?? ImageCacheResult())
        } else {
            token.wait(for: work, priority: options.priority) { token.finish($0.query) }
        }
        return token
    }

    private func work(
        forKey key: String,
        _ options: WebImageOptions,
        _ context: WebImageContext?,
        queriesMemory: Bool
    ) -> EntryImageWork {
        let plan = LoadPlan.EntryImage(
            cache: self,
            cacheKey: key,
            generation: generation(forKey: key),
            options: options,
            context: context,
            queriesMemory: queriesMemory
        )
        return EntryImageWork(plan: Boxed(plan))
    }

    /// Looks for an image, see ``queryImage(forKey:options:context:cacheType:completion:)``; a cancelled task gets an empty
    /// result.
    public func queryImage(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        cacheType: ImageCacheType = .all
    ) async -> ImageCacheResult {
        var inline = context ?? WebImageContext()
        inline.callbackQueue = .inline
        let context = inline
        // Without this a synchronous query would block a cooperative thread, which the caller cannot have meant.
        let options = options.subtracting([.queryDiskDataSync, .queryMemoryDataSync])
        return await awaitOperation { completion in
            queryImage(
                forKey: key,
                options: options,
                context: context,
                cacheType: cacheType,
                completion: completion
            )
        }
    }

    /// The image on disk, decoded and put into memory; does not look there. Synchronous.
    public func imageFromDisk(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> Image? {
        let work = work(forKey: key, options, context, queriesMemory: false)
        return readEntry(forKey: key).flatMap { work.imageNow(of: $0).image }
    }

    /// The image in memory, else the one on disk. Synchronous.
    public func image(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> Image? {
        imageFromMemory(forKey: key, options: options) ?? imageFromDisk(forKey: key, options: options, context: context)
    }

    /// The encoded bytes on disk, read once for all who ask for them at the same time.
    public func diskData(forKey key: String) async -> Data? {
        await withCheckedContinuation { continuation in
            Pipeline.shared.subscribe(to: DiskReadWork(cache: self, cacheKey: key)) { result in
                continuation.resume(returning: result.diskEntry?.data)
            }
        }
    }
}
