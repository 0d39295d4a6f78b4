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
        await awaitCompletion { completion in
            Pipeline.shared.subscribe(to: DiskReadWork(cache: self, cacheKey: key)) { result in
                completion(result.diskEntry?.data)
            }
        }
    }
}

extension ImageCache {
    /// Delivers an image from memory with its bytes from disk: before returning if requested, otherwise later. If an image is stored
    /// meanwhile, retries once with the image then in memory; if that fails, too, decodes the bytes.
    ///
    /// - Parameter work: A query started before memory was queried.
    func addData(
        to image: Image,
        _ work: EntryImageWork,
        _ options: WebImageOptions,
        _ token: ImageCacheToken,
        isSecond: Bool = false
    ) {
        if options.contains(.queryMemoryDataSync) {
            if let result = work.pair(image, readEntry(forKey: token.key)) { return token.result.finish(result) }
            let renewed = work.renewed
            if !isSecond, !work.isCurrent, let newer = renewed.imageInMemory {
                return addData(to: newer, renewed, options, token, isSecond: true)
            }
            let decoded = readEntry(forKey: token.key).map { renewed.imageNow(of: $0) }
            return token.result.finish(ImageCacheResult(decoded, orElse: image))
        }
        let priority = options.priority
        token.wait(for: work.read, priority: priority, stage: isSecond ? 1 : 0) { result in
            guard token.result.isWanted else { return }
            if let result = work.pair(image, result.diskEntry) { return token.finish(result) }
            let renewed = work.renewed
            if !isSecond, !work.isCurrent, let newer = renewed.imageInMemory {
                return self.addData(to: newer, renewed, options, token, isSecond: true)
            }
            token.wait(for: renewed, priority: priority, stage: 2) {
                token.finish(ImageCacheResult($0.query, orElse: image))
            }
        }
    }
}

extension EntryImageWork {
    /// The work of the same query with the current generation.
    fileprivate var renewed: EntryImageWork { EntryImageWork(plan: Boxed(plan.value.renewed)) }

    /// Returns an image from memory and bytes from disk as one result if they belong together; nil if there was a store in between,
    /// or if they are known to be of different images.
    fileprivate func pair(_ image: Image, _ entry: CachedImageData?) -> ImageCacheResult? {
        guard let entry else { return ImageCacheResult(image: image, cacheType: .memory) }
        guard isCurrent, entry.mayBelong(to: image, isOriginal: true) else { return nil }
        return ImageCacheResult(image: image, data: entry.data, cacheType: .memory)
    }
}

extension ImageCacheResult {
    /// Creates a result of the decoded entry, or of the image from memory if decoding failed: a hit does not become a miss.
    fileprivate init(_ decoded: ImageCacheResult?, orElse image: Image) {
        if let decoded, decoded.image != nil {
            self = decoded
        } else {
            self.init(image: image, cacheType: .memory)
        }
    }
}
