public import FoundationEssentials

/// Queries are loads without a loader: they share reads and decodes with each other, and reads with loads.
extension ImageCache {
    /// Queries an image: in memory, then on disk, from where it is decoded and stored in memory.
    ///
    /// A memory hit is delivered before the call returns, on the caller's thread. So is every result with ``WebImageOptions/queryDiskDataSync``,
    /// which reads and decodes on the caller's thread. Otherwise the result is delivered on the context's callback queue (the main one by default).
    /// Concurrent equal queries read and decode once.
    ///
    /// With ``WebImageOptions/queryMemoryData``, a memory hit is delivered with the bytes stored for it, if there are any. So it is delivered later,
    /// unless ``WebImageOptions/queryMemoryDataSync`` is also set or `cacheType` excludes the disk. Image and bytes come from the same store: if
    /// others were stored meanwhile, the image is decoded from the bytes. Exceptions are an image stored by the caller, whose source bytes are
    /// unknown; a store to only one of memory and disk; and ``ImageCacheConfig/writesWithoutOverwriting``, which keeps the previous bytes.
    ///
    /// - Parameters:
    ///   - key: The key; if empty, so is the result.
    ///   - options: `queryDiskDataSync`, `queryMemoryData`, `queryMemoryDataSync`, `decodeFirstFrameOnly`, `scaleDownLargeImages`, and the priorities
    ///     have an effect.
    ///   - context: The callback queue, the coder, the decode options, and, if set, the cache type that an image from disk is stored in.
    ///   - cacheType: The caches to query.
    ///   - completion: Called exactly once. The result contains the source of the image; it contains data if the image came from disk, or if
    ///     requested.
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
            // Before memory is queried, so that a change in between is detected.
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

    /// Queries an image, see ``queryImage(forKey:options:context:cacheType:completion:)``; a cancelled task gets an empty result.
    public func queryImage(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        cacheType: ImageCacheType = .all
    ) async -> ImageCacheResult {
        var inline = context ?? WebImageContext()
        inline.callbackQueue = .inline
        let context = inline
        // Otherwise a synchronous query would block a cooperative thread, which the caller cannot have intended.
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

    /// Returns the image on disk, decoded and stored in memory, without querying memory. Synchronous.
    public func imageFromDisk(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> Image? {
        let work = work(forKey: key, options, context, queriesMemory: false)
        return readEntry(forKey: key).flatMap { work.imageNow(of: $0).image }
    }

    /// Returns the image in memory, or else the one on disk. Synchronous.
    public func image(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> Image? {
        imageFromMemory(forKey: key, options: options) ?? imageFromDisk(forKey: key, options: options, context: context)
    }

    /// Returns the encoded bytes on disk, read once for all concurrent callers.
    public func diskData(forKey key: String) async -> Data? {
        await withCheckedContinuation { continuation in
            Pipeline.shared.subscribe(to: DiskReadWork(cache: self, cacheKey: key)) { result in
                continuation.resume(returning: result.diskEntry?.data)
            }
        }
    }
}
