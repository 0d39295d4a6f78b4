public import FoundationEssentials

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
            let mark = wantsData ? marks.withLock { $0.mark(of: key) } : nil
            let image = imageFromMemory(forKey: key, options: options)
            if let image, let mark {
                let query = DiskImageQuery(key, options: options, context: context, cacheType: .disk, mark: mark)
                addData(to: image, for: query, token)
                return token
            }
            if image != nil || cacheType == .memory {
                token.result.finish(ImageCacheResult(image: image, cacheType: image == nil ? .none : .memory))
                return token
            }
        }
        let mark = marks.withLock { $0.mark(of: key) }
        let query = DiskImageQuery(key, options: options, context: context, cacheType: cacheType, mark: mark)
        if options.contains(.queryDiskDataSync) {
            let entry = readEntry(forKey: key)
            token.result.finish(entry.map { decodeNow($0, for: query) } ?? ImageCacheResult())
        } else {
            decode(query, token) { token.finish($0) }
        }
        return token
    }

    /// Reads and decodes, once for all queries of the same at the same time.
    func decode(
        _ query: DiskImageQuery,
        _ token: ImageCacheToken,
        waiter: @escaping @Sendable (ImageCacheResult) -> Void
    ) {
        let priority = query.options.loadPriority
        let handle = decodes.join(DecodeKey(query), priority: priority) { flight in
            let reading = read(query.readKey, priority: priority) { entry in
                guard flight.isWanted else { return }
                guard let entry else { return flight.finish(ImageCacheResult()) }
                let budget = self.budget
                let demand = MemoryDemand.decode(entry.data, query.coder, query.decodeOptions)
                let decoding = self.codingQueue.submit(demand, to: budget, priority: priority) { admission in
                    guard flight.isWanted else { return }
                    // What is refused has no image; so has data that is no picture.
                    let admitted = try? admission.get()
                    let result = self.decode(entry, for: query, admitted)
                    if let image = result.image { admitted?.end(with: image, in: budget) }
                    flight.finish(result)
                }
                let handle = WorkHandle(cancel: { decoding.cancel() }, setPriority: { decoding.setPriority($0) })
                flight.attach(handle, stage: 1)
            }
            flight.attach(reading, stage: 0)
        } waiter: { result in
            waiter(result)
        }
        token.result.attach(handle, stage: 1)
    }

    /// Reads an entry on a thread of the cache, once for all who ask for the same at the same time.
    func read(
        _ key: ReadKey,
        priority: LoadPriority,
        waiter: @escaping @Sendable (CachedImageData?) -> Void
    ) -> WorkHandle {
        reads.join(key, priority: priority) { flight in
            let item = diskQueue.submit(priority: priority) {
                guard flight.isWanted else { return }
                flight.finish(self.readEntry(forKey: key.key.string))
                self.upkeep.maintainIfDue()
            }
            flight.attach(WorkHandle(item), stage: 0)
        } waiter: { entry in
            waiter(entry)
        }
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

    // MARK: Synchronous

    /// The image in memory.
    public func memoryImage(forKey key: String) -> Image? { key.isEmpty ? nil : memoryCache.image(forKey: key) }

    /// The image in memory; with ``WebImageOptions/decodeFirstFrameOnly``, that of an animation as a still picture. Without it
    /// the first frame alone of an animation is not found.
    public func imageFromMemory(forKey key: String, options: WebImageOptions = []) -> Image? {
        guard let image = memoryImage(forKey: key) else { return nil }
        guard options.contains(.decodeFirstFrameOnly) else {
            return image.servesAsAnimation(isRequired: options.contains(.matchAnimatedImageClass)) ? image : nil
        }
        return image.still
    }

    /// The image on disk, decoded and put into memory; does not look there. Synchronous.
    public func imageFromDisk(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> Image? {
        let mark = marks.withLock { $0.mark(of: key) }
        let query = DiskImageQuery(key, options: options, context: context, cacheType: .disk, mark: mark)
        return readEntry(forKey: key).flatMap { decodeNow($0, for: query).image }
    }

    /// The image in memory, else the one on disk. Synchronous.
    public func image(
        forKey key: String,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> Image? {
        imageFromMemory(forKey: key, options: options) ?? imageFromDisk(forKey: key, options: options, context: context)
    }

    /// The encoded bytes on disk. Synchronous.
    public func diskData(forKey key: String) -> Data? { readEntry(forKey: key)?.data }

    /// The entry on disk. Synchronous.
    public func diskEntry(forKey key: String) -> CachedImageData? { readEntry(forKey: key) }

    /// Whether there is an entry on disk, or one about to be written. Synchronous; does not open the file.
    public func diskDataExists(forKey key: String) -> Bool { hasEntry(forKey: key) }

    // MARK: Data

    /// Reads the entry on disk on a thread of the cache, once for all who ask for it at the same time.
    ///
    /// - Parameters:
    ///   - key: of the entry; there is none under an empty one.
    ///   - priority: how soon it is read among what waits for the disk.
    ///   - completion: called exactly once, on a thread of the cache, with nil when there is none. A cancel calls it at
    ///     once with nil. Must not block.
    @discardableResult
    public func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        let query = DiskQuery<CachedImageData>(completion)
        let readKey = ReadKey(key: MemoryCacheKey(key), mark: marks.withLock { $0.mark(of: key) })
        query.result.attach(read(readKey, priority: priority) { query.result.finish($0) })
        return query
    }

    /// The encoded bytes on disk.
    public func diskData(forKey key: String) async -> Data? {
        await withCheckedContinuation { continuation in
            queryDisk(forKey: key, priority: .normal) { continuation.resume(returning: $0?.data) }
        }
    }

    // MARK: Existence

    /// Which level has the key; the first of memory and disk that does.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - cacheType: where to look.
    ///   - completion: called exactly once: on the caller's thread when disk need not be asked, else on a thread of the
    ///     cache. Must not block.
    public func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        if cacheType.includesMemory, memoryImage(forKey: key) != nil { return completion(.memory) }
        guard cacheType.includesDisk, !key.isEmpty else { return completion(.none) }
        diskQueue.submit { completion(self.hasEntry(forKey: key) ? .disk : .none) }
    }

    /// Which level has the key; the first of memory and disk that does.
    public func containsImage(forKey key: String, in cacheType: ImageCacheType = .all) async -> ImageCacheType {
        await withCheckedContinuation { continuation in
            containsImage(forKey: key, in: cacheType) { continuation.resume(returning: $0) }
        }
    }
}
