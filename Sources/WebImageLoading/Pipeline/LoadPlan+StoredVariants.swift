import FoundationEssentials

/// The record of images of other sizes in the original's entry on disk (``SizeReuse/disk``).
extension LoadPlan {
    /// Returns a hash of everything but the size that determines the pixels of a result on disk; nil if the options are not those that the
    /// key of the result describes: then other processes could not know which image it is.
    static func variantKind(_ options: ImageDecodeOptions, coder: any ImageCoder, _ chain: Chain) -> UInt64? {
        var others = ImageVariant.Kind(options, coder: coder, transformerKey: chain.key).options
        let defaults = ImageDecodeOptions()
        (others.page, others.rawDevelopment, others.videoTime) = (0, .preview, nil)
        (others.scaleFactor, others.pixelFormat) = (1, nil)
        guard others == defaults else { return nil }
        let time = options.videoTime.map(FixedDecimal.string) ?? ""
        let scale = chain.isEmpty ? "" : FixedDecimal.string(options.scaleFactor)
        var text = "\(options.page) \(options.rawDevelopment.rawValue) \(time) \(scale) \(chain.key)"
        return text.withUTF8 { Hashing.xxh3(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the key of a variant of this plan's kind.
    func key(of variant: StoredVariant) -> String? {
        guard let originalKey else { return nil }
        let options = decode.options
        var key = CacheKeys.selection(originalKey, options.page, options.rawDevelopment)
        if let box = variant.box {
            key = CacheKeys.thumbnail(
                key,
                size: box,
                preserveAspectRatio: variant.fit != .stretched,
                covers: variant.fit == .covering
            )
        }
        guard !chain.isEmpty else { return key }
        let isOther = options.scaleFactor != ImageScaleFactor.forKey(originalKey)
        return CacheKeys.transformed(
            key,
            by: chain.key + (isOther ? "-Scale(\(FixedDecimal.string(options.scaleFactor)))" : "")
        )
    }

    /// Returns the record of an image in the result's size; nil if its key could not be derived from the record.
    private func record(of variant: ImageVariant, isExact: Bool) -> StoredVariant? {
        guard let kind = result.value.variantKind else { return nil }
        let options = decode.options
        let record = StoredVariant(
            size: (variant.width, variant.height),
            sourceSize: (variant.sourceWidth, variant.sourceHeight),
            box: options.isThumbnail ? options.thumbnailPixelSize : nil,
            fit: !options.preserveAspectRatio ? .stretched : options.thumbnailCovers ? .covering : .inside,
            kind: kind,
            isExact: isExact
        )
        return key(of: record) == variant.key ? record : nil
    }

    /// Records a result that is being stored on disk in the entry of the original. `completion` is called when that is done.
    ///
    /// - Parameter isExact: False if it was scaled from another size.
    func recordVariant(in request: ImageStoreRequest, isExact: Bool, completion: @escaping @Sendable () -> Void) {
        guard let originalKey, let cache = cache.localImageCache, let image = request.image,
            let variant = variant(image, forKey: request.key, chain, isExact: isExact),
            let record = record(of: variant, isExact: variant.isExact && request.isLossless)
        else { return completion() }
        cache.record(record, madeOf: variant.sourceHash, of: originalKey, completion: completion)
    }

    /// Returns the images that this plan's result could be made from, or that are previews of it, in ascending order of their sizes.
    func variants(_ found: ImageCache.RecordedVariants) -> [ImageVariant] {
        guard let kind = result.value.variantKind else { return [] }
        let request = VariantRequest(decode.options, coder: decode.coder, chain)
        return found.variants.filter { $0.kind == kind }.compactMap { variant in
            guard let key = key(of: variant), key != cacheKey, key != originalKey else { return nil }
            return ImageVariant(
                key: key,
                size: (variant.width, variant.height),
                sourceSize: (variant.sourceWidth, variant.sourceHeight),
                sourceHash: found.sourceHash,
                kind: request.kind,
                isExact: variant.isExact
            )
        }.sorted { $0.width * $0.height < $1.width * $1.height }
    }

    /// The options for decoding the entry of a variant.
    var variantOptions: ImageDecodeOptions {
        var options = decode.options
        (options.thumbnailPixelSize, options.page, options.rawDevelopment) = (nil, 0, .preview)
        return options
    }

    /// Decodes the entry of a variant; nil if it is not the recorded image.
    func decoded(
        _ variant: ImageVariant,
        _ entry: CachedImageData,
        _ options: ImageDecodeOptions,
        _ trace: LoadTrace
    ) -> Image? {
        guard let image = decodeDerived(entry, options, trace)?.image, image.animation == nil, image.orientation == .up,
            image.pixelWidth == variant.width, image.pixelHeight == variant.height
        else { return nil }
        var metadata = image.metadata
        (metadata.sourceWidth, metadata.sourceHeight) = (variant.sourceWidth, variant.sourceHeight)
        metadata.isThumbnail = variant.width < variant.sourceWidth || variant.height < variant.sourceHeight
        return image.with(metadata: metadata)
    }
}

extension ImageStoreRequest {
    /// True if the image is stored with all its pixels.
    fileprivate var isLossless: Bool {
        guard data == nil, let image, let coder, encodeOptions == ImageEncodeOptions(),
            !image.metadata.isHighDynamicRange, image.bitmap.pixelFormat != .rgbaHalfPremultiplied
        else { return false }
        return image.encodingFormat(of: coder, options: encodeOptions) == .png
    }
}

extension ResultWork {
    /// Makes the result from an image of another size on disk, or else from the original, after a smaller image was sent.
    func useStoredVariants(_ job: WorkJob) {
        guard let originalKey = plan.originalKey, let cache = plan.cache.localImageCache else {
            return makeFromOriginal(job)
        }
        let operation = cache.queryVariants(of: originalKey, priority: job.priority) { found in
            use(found.map(plan.variants) ?? [], job)
        }
        job.hold(operation)
    }

    /// Uses the best variant, or the best of the others if its entry was evicted or is damaged.
    private func use(_ variants: [ImageVariant], _ job: WorkJob) {
        let request = VariantRequest(plan.decode.options, coder: plan.decode.coder, plan.chain)
        switch request.choose(among: variants, find: { _ in true }) {
        case .scale(_, let variant, let width, let height):
            read(variant, job) { image in
                guard let image else { return use(variants, without: variant, job) }
                scale(.init(image: image, variant: variant, width: width, height: height, source: .disk), job)
            }
        case .preview(_, let variant):
            guard job.pipeline.wants(.variant, of: job), !plan.hasPreviewInMemory else { return makeFromOriginal(job) }
            // Decoding the original does not take much longer than decoding an image that is nearly as large.
            guard 4 * variant.width * variant.height <= variant.sourceWidth * variant.sourceHeight else {
                return use(variants, without: variant, job)
            }
            read(variant, job) { image in
                guard let image else { return use(variants, without: variant, job) }
                job.send(.variant(image, key: variant.key))
                makeFromOriginal(job)
            }
        case .none: makeFromOriginal(job)
        }
    }

    private func use(_ variants: [ImageVariant], without unusable: ImageVariant, _ job: WorkJob) {
        use(variants.filter { $0.key != unusable.key }, job)
    }

    /// Reads and decodes the entry of a variant; nil if it is not there any more, or was made of other bytes.
    private func read(_ variant: ImageVariant, _ job: WorkJob, then: @escaping @Sendable (Image?) -> Void) {
        job.require(DiskReadWork(cache: plan.cache, cacheKey: variant.key)) { result in
            guard case .success(.diskEntry(let entry?)) = result, entry.validators?.receivedHash == variant.sourceHash,
                !variant.isExact || ImageFormat(detecting: entry.data) == .png
            else { return then(nil) }
            job.note(.queued(.decode))
            job.perform(.decode(entry.data, plan.decode.coder, plan.variantOptions)) { given in
                guard !job.isCancelled else { return }
                guard case .success(let options) = given else { return then(nil) }
                then(plan.decoded(variant, entry, options ?? plan.variantOptions, job.trace))
            }
        }
    }
}
