import FoundationEssentials

extension LoadPlan {
    /// Stores an image that was read under the result's own key in memory.
    func storedInMemory(_ image: PipelineImage, _ trace: LoadTrace) -> PipelineImage {
        if let cacheKey, store.includesMemory {
            storeInMemory(image.image, forKey: cacheKey, of: cache, trace)
            // The entry may be lossy, and does not say what size the original has. What has another shape than the original is therefore not
            // noted: it is not a preview of anything else.
            let hasShapeOfOriginal = decode.options.preserveAspectRatio && chain.isSizeCovariant
            if hasShapeOfOriginal || isOriginal {
                noteVariant(image.image, forKey: cacheKey, chain, isExact: false)
            }
        }
        return image
    }

    /// Starts the writes of the result.
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

    /// Skips storing an image that must not be stored; also removes the outdated entry of an older one.
    private func unstored(_ image: PipelineImage) -> PipelineImage {
        if replaces, let cacheKey { cache.removeImage(forKey: cacheKey, from: .all, completion: nil) }
        return image.stored(image.stores)
    }

    private func storeOriginalInMemory(_ image: PipelineImage, _ trace: LoadTrace) {
        guard result.value.storesOriginalInMemory, !isOriginalEntry, let original = image.original, let originalKey
        else { return }
        storeInMemory(original, forKey: originalKey, of: decode.original.cache, trace)
        if cache === decode.original.cache { noteVariant(original, forKey: originalKey, Chain([])) }
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
        // On disk, nothing distinguishes a result from the full image if it was scaled down by a byte limit, is only the first frame, or
        // was damaged. And encoding all frames of a thumbnail or transformed animation costs more than making the shown frames from the
        // original.
        let metadata = image.image.metadata
        let isPart = metadata.scaleDownLimitBytes > 0 || metadata.isFirstFrame || metadata.isDamaged
        let moves = image.image.animation != nil || metadata.isAnimated && !metadata.isTransformed
        // Under the key of the original, only its bytes may be of more than the image.
        let isReduced = isOriginal && image.data == nil && decode.replacement(image) == nil
        let isLimited = isReduced || (isPart || moves) && !isOriginal
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
        // Before the store: the image may be evicted at once, and is then not found.
        if target.includesMemory { noteVariant(image.image, forKey: key, chain, isExact: !image.isScaled) }
        if replaces {
            guard isOnDisk else { return cache.replace(with: request, completion: completion) }
            // The entry on disk is the original, which is new already.
            if !target.includesMemory { cache.removeImage(forKey: key, from: .memory, completion: nil) }
        }
        guard target != .none else { return completion() }
        guard target.includesDisk, !isOriginal else { return cache.store(request, completion: completion) }
        let group = StoreGroup()
        group.enter()
        cache.store(request) { group.leave() }
        group.enter()
        recordVariant(in: request, isExact: !image.isScaled) { group.leave() }
        group.whenDone(completion)
    }

    /// True if the result may be made for other machines, or by them: the loader may be asked, and its own entry is written.
    var mayShareResult: Bool {
        (decode.original.fetch != nil || result.value.awaitsOthers) && !isOriginal && store.includesDisk
            && result.value.serializer == nil
    }

    /// Adds the bytes to store on disk, and the validators of their source.
    private func addBytes(of image: PipelineImage, to request: inout ImageStoreRequest) {
        // Bytes of the full image must not be encoded from a reduced one.
        let given = isOriginal ? decode.wholeImage(image.image) : image.image
        let made = result.value.serializer?.value.bytes(for: given, data: image.data, url: url)
        let isSource = isOriginal && (made == nil || made == image.data)
        let hash = image.image.metadata.sourceHash
        if let scope = decode.original.plan.value.sharingScope, result.value.serializer == nil {
            decode.original.rule.share(&request, as: scope, image.loaded?.response)
        }
        // If the original is not stored, the result is revalidated with its validators.
        let isAlone = isOriginal || !decode.original.storesDisk
        request.validators = decode.original.rule.validators(
            of: isAlone ? image.loaded?.response : nil,
            receivedHash: isSource || hash == 0 ? nil : hash
        )
        if let made { request.data = made }
    }

    /// Returns whether the bytes of the result are on disk already, or being written there as the original.
    private func isOnDisk(_ image: PipelineImage) -> Bool {
        guard isOriginalEntry else { return false }
        return image.source == .disk || decode.original.storesDisk
    }

    // MARK: Images that must not be transformed

    private func isTransformedAsAsked(_ image: PipelineImage) -> Bool {
        chain.isEmpty || image.image.metadata.isTransformed
    }

    /// Stores an image that the gate excluded from transformation in memory, under the key of the untransformed image. On disk it
    /// is the original.
    private func storedUntransformed(_ image: PipelineImage, _ trace: LoadTrace) -> PipelineImage {
        if let untransformedKey, store.includesMemory, image.source != .memory {
            storeInMemory(image.image, forKey: untransformedKey, of: cache, trace)
            noteVariant(image.image, forKey: untransformedKey, Chain([]), isExact: !image.isScaled)
        }
        storeOriginalInMemory(image, trace)
        var result = image.stored(image.stores)
        result.cacheKey = untransformedKey
        return result
    }
}

extension PipelineImage {
    /// Returns a copy with nothing left to store.
    fileprivate func stored(_ group: StoreGroup) -> PipelineImage {
        var copy = self
        copy.stores = group
        copy.original = nil
        return copy
    }
}
