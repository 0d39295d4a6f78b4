public import FoundationEssentials

extension ImageCache {
    /// Stores an image, its encoded bytes, or both.
    ///
    /// Memory is written before the call returns (unless ``ImageCacheConfig/shouldCacheImagesInMemory`` is false). For disk,
    /// the request's data is written if given, else the image is encoded: in its own format if that can be written and keeps
    /// its alpha, else as PNG with alpha and JPEG without. With neither an image nor data, or without a key, nothing is
    /// stored; an image without data is not written when neither the request nor the cache has a coder. `completion` is called exactly once, when everything has been stored or given up: on the caller's thread when
    /// nothing goes to disk, else on a thread of the cache. It must not block.
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

    /// Stores, and returns when everything has been stored or given up.
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

    /// Stores in memory, whatever the configuration says about storing there.
    public func storeToMemory(_ image: Image, forKey key: String) {
        guard !key.isEmpty else { return }
        changingBoth(key) { putIntoMemory(image, forKey: key) }
    }

    /// Also counts it in the budget, if that is on: it may be an image that nobody decoded.
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

    /// Removes an entry. A load under way may store it again; cancel it before, if it must not. `completion` is called exactly once: on
    /// the caller's thread when nothing is removed from disk, else on a thread of the cache. It must not block.
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

    /// Removes an entry, and returns when it is gone.
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

    /// Removes everything. What is stored after the call stays, also by loads that were under way; cancel them before
    /// (``WebImageManager/cancelAll()``), if they must not store anything: what is cancelled stores nothing more. `completion` is
    /// called exactly once: on the caller's thread when nothing is removed from disk, else on a thread of the cache. It must not block.
    public func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        changingBoth(nil) {
            if cacheType.includesMemory { memoryCache.removeAll() }
            if cacheType.includesDisk { clearDisk(completion: completion) }
        }
        if !cacheType.includesDisk { completion?() }
    }

    /// Removes everything, and returns when it is gone.
    public func clear(_ cacheType: ImageCacheType = .all) async {
        await withCheckedContinuation { continuation in clear(cacheType) { continuation.resume() } }
    }
}

extension ImageStoreRequest {
    /// What is to be done on disk; nil for nothing.
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

    /// With them what the image was made of: what was loaded for it is then known to belong to whatever bytes are stored.
    private var validatorsWithSource: CacheValidators? {
        guard validators?.receivedHash == nil, let hash = image?.metadata.sourceHash, hash != 0 else {
            return validators
        }
        return validators.with(receivedHash: hash)
    }
}
