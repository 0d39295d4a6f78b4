public import FoundationEssentials

extension ImageCache {
    /// Stores an image, its encoded bytes, or both.
    ///
    /// Memory is written before the call returns (unless ``ImageCacheConfig/shouldCacheImagesInMemory`` is false). On disk, the
    /// request's data is stored. Without data, an animation is stored as the bytes that it was decoded from, and any other image is
    /// encoded: in its own format if that can be written and keeps its alpha, else as PNG with alpha and as JPEG without. An image
    /// that has to be encoded is not written if neither the request nor the cache has a coder. With neither an image nor data, or
    /// with an empty key, nothing is stored.
    ///
    /// `completion` is called exactly once, when everything has been stored or dropped: on the caller's thread if nothing goes to
    /// disk, otherwise on a thread of the cache or of a caller of its synchronous methods. It must not block.
    public func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        let key = request.key
        guard !key.isEmpty, request.image != nil || request.data != nil else {
            completion?()
            return
        }
        let memoryImage = request.cacheType.includesMemory && config.shouldCacheImagesInMemory ? request.image : nil
        guard let work = request.diskWork(coder: request.coder ?? coder) else {
            if let memoryImage { storeToMemory(memoryImage, forKey: key) }
            completion?()
            return
        }
        guard let memoryImage else { return submit(work, forKey: key, completion: completion) }
        var mustSchedule = false
        changingBoth(key) {
            putIntoMemory(memoryImage, forKey: key)
            mustSchedule = enqueue(work, forKey: key, completion: completion)
        }
        // Afterwards: the woken thread needs the lock that the end of the change takes.
        if mustSchedule { schedule(key, encodes: work.isEncoding) }
    }

    /// Stores an image, its encoded bytes, or both, and returns when everything has been stored or dropped.
    public func store(
        _ image: Image?,
        data: Data? = nil,
        forKey key: String,
        to cacheType: ImageCacheType = .all,
        encodeOptions: ImageEncodeOptions = ImageEncodeOptions(),
        coder: (any ImageCoder)? = nil
    ) async {
        await awaitCompletion { completion in
            store(
                image,
                data: data,
                forKey: key,
                to: cacheType,
                encodeOptions: encodeOptions,
                coder: coder,
                completion: completion
            )
        }
    }

    /// Stores an image in memory, even if the configuration disables storing there.
    public func storeToMemory(_ image: Image, forKey key: String) {
        guard !key.isEmpty else { return }
        changingBoth(key) { putIntoMemory(image, forKey: key) }
    }

    /// Also counts the image in the budget, if that is on: it may not have been decoded by this library.
    private func putIntoMemory(_ image: Image, forKey key: String) {
        memoryCache.setImage(image, forKey: key, cost: image.memoryCost)
        if budget.isOn { budget.hold(image) }
    }

    /// Writes encoded bytes to disk. Synchronous.
    public func storeDataToDisk(_ data: Data, forKey key: String, extendedData: Data? = nil) {
        guard !key.isEmpty else { return }
        perform(.store(.entry(CachedImageData(data: data, extendedData: extendedData))), forKey: key)
    }

    // MARK: Removing

    /// Removes an entry. A running load may store it again; cancel it first to prevent this. `completion` is called exactly once:
    /// on the caller's thread if nothing is removed from disk, otherwise on a thread of the cache or of a caller of its synchronous
    /// methods. It must not block.
    public func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        guard cacheType.includesDisk, !key.isEmpty else {
            if cacheType.includesMemory { removeImageFromMemory(forKey: key) }
            completion?()
            return
        }
        changingBoth(key) {
            if cacheType.includesMemory { removeFromMemory(key) }
            submit(.remove, forKey: key, completion: completion)
        }
    }

    /// Removes an entry, and returns when it is removed.
    public func removeImage(forKey key: String, from cacheType: ImageCacheType = .all) async {
        await awaitCompletion { removeImage(forKey: key, from: cacheType, completion: $0) }
    }

    /// Removes an image from memory.
    public func removeImageFromMemory(forKey key: String) {
        changingBoth(key) { removeFromMemory(key) }
    }

    /// Also forgets the variants of an original: images of other sizes are not made from them any more.
    private func removeFromMemory(_ key: String) {
        memoryCache.removeImage(forKey: key)
        changeVariants { $0.removeAll(of: key) }
    }

    /// Removes an entry from disk. Synchronous.
    public func removeImageFromDisk(forKey key: String) {
        guard !key.isEmpty else { return }
        perform(.remove, forKey: key)
    }

    /// Removes all entries. Entries that are stored after the call stay, including those of running loads; cancel these first
    /// (``WebImageManager/cancelAll()``) to prevent this: a cancelled load stores nothing. `completion` is called exactly once: on
    /// the caller's thread if nothing is removed from disk, otherwise on a thread of the cache or of a caller of its synchronous
    /// methods. It must not block.
    public func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        changingBoth(nil) {
            if cacheType.includesMemory {
                memoryCache.removeAll()
                changeVariants { $0.removeAll() }
            }
            if cacheType.includesDisk { clearDisk(completion: completion) }
        }
        if !cacheType.includesDisk { completion?() }
    }

    /// Removes all entries, and returns when they are removed.
    public func clear(_ cacheType: ImageCacheType = .all) async {
        await awaitCompletion { clear(cacheType, completion: $0) }
    }
}

extension ImageStoreRequest {
    /// The work on disk; nil for none.
    fileprivate func diskWork(coder: (any ImageCoder)?) -> DiskWork? {
        guard cacheType.includesDisk else { return nil }
        let bytes = data ?? image?.encodedAnimation
        var entry = CachedImageData(
            data: bytes ?? Data(),
            extendedData: extendedData ?? image?.extendedData,
            validators: validatorsWithSource,
            thumbHash: thumbHash
        )
        if data != nil { entry.dataHash.value = dataHash }
        if keepsVariants { entry.variants.value = [] }
        if bytes != nil { return .store(.entry(entry)) }
        guard let image, let coder else { return nil }
        return .store(.image(PendingImage(image: image, options: encodeOptions, coder: coder, entry: entry)))
    }

    /// The validators with the hash of the image's source data, which ties the response to the stored bytes even if these differ.
    private var validatorsWithSource: CacheValidators? {
        guard validators?.receivedHash == nil, let hash = image?.metadata.sourceHash, hash != 0 else {
            return validators
        }
        return validators.with(receivedHash: hash)
    }
}

extension ImageCache {
    /// Returns the extended data stored with the entry on disk, or pending; nil if there is none. Reads only the end of the file
    /// (if the disk level is a ``DiskCache``) and does not count as an access.
    public func extendedData(forKey key: String) async -> Data? {
        await onDiskQueue { $0.readDetails(forKey: key).found?.extendedData }
    }

    /// Delivers the extended data stored with the entry on disk, or pending, on `callbackQueue`; see ``extendedData(forKey:)``.
    public func extendedData(
        forKey key: String,
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (Data?) -> Void
    ) {
        onDiskQueue(callbackQueue, { $0.readDetails(forKey: key).found?.extendedData }, completion)
    }

    /// Replaces the extended data of the entry on disk; nil removes it. The image and its timestamps do not change. Does nothing if
    /// there is no entry. An image in memory keeps its extended data. Returns when the entry has been changed.
    public func setExtendedData(_ data: Data?, forKey key: String) async {
        await awaitCompletion { setExtendedData(data, forKey: key, completion: $0) }
    }

    /// Replaces the extended data of the entry on disk, nil for none; see ``setExtendedData(_:forKey:)``. Every read sees the
    /// change as soon as the call returns. `completion` is called exactly once, on a thread of the cache, when it is done (for an
    /// empty key, on the caller's). It must not block.
    public func setExtendedData(_ data: Data?, forKey key: String, completion: (@Sendable () -> Void)?) {
        guard !key.isEmpty else {
            completion?()
            return
        }
        submit(.amend(EntryAmendment(extendedData: .some(data))), forKey: key, completion: completion)
    }

    /// Replaces the validators of the entry on disk, nil for none; the entry's image and times stay. Has no effect without an
    /// entry. Returns at once; every read sees the change from then on.
    public func amend(validators: CacheValidators?, forKey key: String) {
        guard !key.isEmpty else { return }
        submit(.amend(EntryAmendment(validators: .some(validators))), forKey: key, completion: nil)
    }

    /// Returns the ThumbHash of an entry on disk: about 25 bytes, for a placeholder while the image is decoded. Nil without an entry
    /// or a hash. A load computes the hash of each original that it decodes and stores. The call reads only the end of the file (if
    /// the disk level is a ``DiskCache``), and does not count as an access.
    public func thumbHash(forKey key: String) async -> ThumbHash? {
        await onDiskQueue { $0.readDetails(forKey: key).found?.thumbHash }
    }
}

extension ImageCache {
    /// Returns the known validators of the entry of a key without reading the disk; nil if none are known. Those of
    /// the 4096 entries most recently stored, read, amended or queried are known. A known entry may no longer exist: it may have
    /// been evicted, or removed by another process.
    ///
    /// Any thread. Cost: about 0.1 µs.
    public func knownValidators(forKey key: String) -> CachedValidators? {
        key.isEmpty ? nil : known.withLock { $0.find(key) }
    }

    /// Reads the metadata of the entry on disk, or pending, and remembers the validators. Reads only the end of the file (if the
    /// disk level is a ``DiskCache``), and does not count as an access. Otherwise the same as
    /// ``queryDisk(forKey:priority:completion:)``.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: diskQueue, priority, completion) { self.readValidators(forKey: key) }
    }

    /// Returns the validators of an entry, whether it is already on disk or still pending. Blocks.
    package func readValidators(forKey key: String) -> CachedValidators? {
        guard !key.isEmpty else { return nil }
        let (own, generation) = readDetails(forKey: key)
        let found = (own ?? readForeignEntry(forKey: key)).map { CachedValidators($0) }
        learn(found, forKey: key, since: generation)
        return found
    }

    /// Amends an entry on disk, if it has the bytes that the amendment is for. Blocks.
    func amend(_ amendment: EntryAmendment, forKey key: String) {
        if let disk = diskCache as? DiskCache { return disk.amend(amendment, forKey: key) }
        guard !amendment.isOnlyVariants else { return }
        let amendment = amendment.applied(to: diskCache.entry(forKey: key)?.sourceHash)
        diskCache.amend(extendedData: amendment.extendedData, validators: amendment.validators, forKey: key)
    }

    // MARK: Known validators

    /// Forgets the validators of an entry that could not be written: the previous entry may still exist.
    func forgetStored(_ entry: CachedImageData, forKey key: String) {
        known.withLock { known in
            // A newer entry may be pending.
            if known.find(key) == CachedValidators(entry) { known.set(nil, forKey: key) }
        }
    }

    /// Remembers the validators of an entry that was read (nil: there is no entry), unless the key has a newer generation.
    func learn(_ found: CachedValidators?, forKey key: String, since generation: Generation) {
        let name = MemoryCacheKey(key)
        writes.withLock { writes in
            guard writes.generations.isCurrent(generation, of: name) else { return }
            known.withLock { $0.set(found, forKey: key) }
        }
    }

    /// Remembers the validators that work will result in. Called with the lock of `writes` held, so that known validators change in
    /// the order in which readers see the changes.
    func note(_ work: DiskWork, forKey key: String, replacing: Bool) {
        known.withLock { known in
            switch work {
            case .store(let contents):
                known.set(replacing ? CachedValidators(contents.content) : nil, forKey: key)
            case .amend(let amendment):
                known.amend(amendment, forKey: key)
            case .remove:
                known.set(nil, forKey: key)
            case .nothing:
                break
            }
        }
    }
}
