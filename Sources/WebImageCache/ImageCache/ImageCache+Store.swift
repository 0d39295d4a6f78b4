public import FoundationEssentials

extension ImageCache {
    /// Stores an image, its encoded bytes, or both.
    ///
    /// Memory is written before the call returns (unless ``ImageCacheConfig/shouldCacheImagesInMemory`` is false). For disk, the
    /// request's data is written if given; otherwise, the image is encoded: in its own format if that can be written and keeps its
    /// alpha, else as PNG with alpha and JPEG without. With neither an image nor data, or with an empty key, nothing is stored; an
    /// image without data is not written if neither the request nor the cache has a coder. `completion` is called exactly once,
    /// when everything has been stored or dropped: on the caller's thread if nothing goes to disk, otherwise on a thread of the
    /// cache. It must not block.
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
        changingBoth(key) {
            if let memoryImage { putIntoMemory(memoryImage, forKey: key) }
            submit(work, forKey: key, completion: completion)
        }
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
        await withCheckedContinuation { continuation in
            store(
                image,
                data: data,
                forKey: key,
                to: cacheType,
                encodeOptions: encodeOptions,
                coder: coder
            ) { continuation.resume() }
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
    /// on the caller's thread if nothing is removed from disk, otherwise on a thread of the cache. It must not block.
    public func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        guard cacheType.includesDisk, !key.isEmpty else {
            if cacheType.includesMemory { removeImageFromMemory(forKey: key) }
            completion?()
            return
        }
        changingBoth(key) {
            if cacheType.includesMemory { memoryCache.removeImage(forKey: key) }
            submit(.remove, forKey: key, completion: completion)
        }
    }

    /// Removes an entry, and returns when it is removed.
    public func removeImage(forKey key: String, from cacheType: ImageCacheType = .all) async {
        await withCheckedContinuation { continuation in
            removeImage(forKey: key, from: cacheType) { continuation.resume() }
        }
    }

    /// Removes an image from memory.
    public func removeImageFromMemory(forKey key: String) {
        changingBoth(key) { memoryCache.removeImage(forKey: key) }
    }

    /// Removes an entry from disk. Synchronous.
    public func removeImageFromDisk(forKey key: String) {
        guard !key.isEmpty else { return }
        perform(.remove, forKey: key)
    }

    /// Removes all entries. Entries that are stored after the call stay, including those of running loads; cancel these first
    /// (``WebImageManager/cancelAll()``) to prevent this: a cancelled load stores nothing. `completion` is called exactly once: on
    /// the caller's thread if nothing is removed from disk, otherwise on a thread of the cache. It must not block.
    public func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        changingBoth(nil) {
            if cacheType.includesMemory { memoryCache.removeAll() }
            if cacheType.includesDisk { clearDisk(completion: completion) }
        }
        if !cacheType.includesDisk { completion?() }
    }

    /// Removes all entries, and returns when they are removed.
    public func clear(_ cacheType: ImageCacheType = .all) async {
        await withCheckedContinuation { continuation in clear(cacheType) { continuation.resume() } }
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
