import FoundationEssentials

extension LoadPlan {
    /// Puts an image that was read under the result's own key into memory.
    func storedInMemory(_ image: PipelineImage, _ trace: LoadTrace) -> PipelineImage {
        if let cacheKey, store.includesMemory { storeInMemory(image.image, forKey: cacheKey, of: cache, trace) }
        return image
    }

    /// Starts the writes that the result calls for.
    func stored(_ image: PipelineImage, _ trace: LoadTrace) -> PipelineImage {
        guard image.isStorable else { return unstored(image) }
        guard isTransformedAsAsked(image) else { return storedUntransformed(image, trace) }
        let group = StoreGroup()
        group.enter()
        image.stores.whenDone { group.leave() }
        storeOriginalInMemory(image, trace)
        if let cacheKey {
            group.enter()
            store(image, forKey: cacheKey, trace) { group.leave() }
        }
        return image.stored(group)
    }

    /// What may not be kept; what was kept of an older picture is out of date all the same.
    private func unstored(_ image: PipelineImage) -> PipelineImage {
        if replaces, let cacheKey { cache.removeImage(forKey: cacheKey, from: .all, completion: nil) }
        return image.stored(image.stores)
    }

    private func storeOriginalInMemory(_ image: PipelineImage, _ trace: LoadTrace) {
        guard result.value.storesOriginalInMemory, !isOriginalEntry, let original = image.original, let originalKey
        else { return }
        storeInMemory(original, forKey: originalKey, of: decode.original.cache, trace)
    }

    private func storeInMemory(_ image: Image, forKey key: String, of cache: any ImageCaching, _ trace: LoadTrace) {
        var request = ImageStoreRequest(key: key, image: image)
        request.cacheType = .memory
        cache.store(request, completion: nil)
        trace.note(.stored(key: key, .memory))
    }

    private func store(
        _ image: PipelineImage,
        forKey key: String,
        _ trace: LoadTrace,
        completion: @escaping @Sendable () -> Void
    ) {
        // On disk nothing tells a result that a byte limit made smaller, of the first frame alone, or of damaged data, from one of the
        // whole picture. And to encode all frames of a thumbnail, or of what a transformer makes, costs more than to make those that are
        // shown of the original.
        let metadata = image.image.metadata
        let isPart = metadata.scaleDownLimitBytes > 0 || metadata.isFirstFrame || metadata.isDamaged
        let moves = image.image.animation != nil || metadata.isAnimated && !metadata.isTransformed
        let isLimited = (isPart || moves) && !isOriginal
        let isOnDisk = isOnDisk(image)
        let target = ImageCacheType(
            memory: store.includesMemory,
            disk: store.includesDisk && !isOnDisk && !isLimited
        )
        var request = ImageStoreRequest(key: key, image: image.image, data: image.data)
        request.cacheType = target
        request.encodeOptions = result.value.encodeOptions?.value ?? ImageEncodeOptions()
        request.coder = decode.coder
        if target.includesDisk { addBytes(of: image, to: &request) }
        if target != .none { trace.note(.stored(key: key, target)) }
        if replaces {
            guard isOnDisk else { return cache.replace(with: request, completion: completion) }
            // What lies on disk as the original is new already.
            if !target.includesMemory { cache.removeImage(forKey: key, from: .memory, completion: nil) }
        }
        guard target != .none else { return completion() }
        cache.store(request, completion: completion)
    }

    /// Sees to the bytes that go to disk, and what is told with them of where they are from.
    private func addBytes(of image: PipelineImage, to request: inout ImageStoreRequest) {
        // Bytes of the whole picture must not be made of an image of less.
        let given = isOriginal ? decode.wholePicture(image.image) : image.image
        let made = result.value.serializer?.value.bytes(for: given, data: image.data, url: url)
        let isSource = isOriginal && (made == nil || made == image.data)
        let hash = image.image.metadata.sourceHash
        // Where the original is not kept, the result is asked for with its validators.
        let isAlone = isOriginal || !decode.original.storesDisk
        request.validators = decode.original.rule.validators(
            of: isAlone ? image.loaded?.response : nil,
            receivedHash: isSource || hash == 0 ? nil : hash
        )
        if let made { request.data = made }
    }

    /// Whether the bytes of the result lie on disk already, or are being written there as the original.
    private func isOnDisk(_ image: PipelineImage) -> Bool {
        guard isOriginalEntry else { return false }
        return image.source == .disk || decode.original.storesDisk
    }

    // MARK: What must not be transformed

    private func isTransformedAsAsked(_ image: PipelineImage) -> Bool {
        chain.isEmpty || image.image.metadata.isTransformed
    }

    /// Stores an image that the gate kept from the transformers where one without transformers lies: in memory. On disk it is
    /// the original.
    private func storedUntransformed(_ image: PipelineImage, _ trace: LoadTrace) -> PipelineImage {
        if let untransformedKey, store.includesMemory, image.source != .memory {
            storeInMemory(image.image, forKey: untransformedKey, of: cache, trace)
        }
        storeOriginalInMemory(image, trace)
        var result = image.stored(image.stores)
        result.cacheKey = untransformedKey
        return result
    }
}

extension PipelineImage {
    /// The same when nothing of it has still to be stored.
    fileprivate func stored(_ group: StoreGroup) -> PipelineImage {
        var copy = self
        copy.stores = group
        copy.original = nil
        return copy
    }
}
