import FoundationEssentials

/// The use of images in other sizes (``SizeReuse``).
extension LoadPlan {
    /// An image that the result is scaled from.
    struct Scaling: Sendable {
        let image: Image
        let variant: ImageVariant
        let width: Int
        let height: Int
        /// The cache level of the image.
        var source = ImageCacheType.memory
    }

    /// Returns the image in memory that the result is to be scaled from; nil for none.
    func scaling() -> Scaling? {
        guard result.value.scalesVariants, case .scale(let image, let variant, let width, let height) = variantChoice()
        else { return nil }
        return Scaling(image: image, variant: variant, width: width, height: height)
    }

    /// True if the caller has received a preview from memory.
    var hasPreviewInMemory: Bool {
        if case .preview = variantChoice() { return true }
        return false
    }

    /// Returns the use of the images in memory.
    func variantChoice() -> VariantChoice<Image> {
        guard queriesMemory, cacheKey != nil, let originalKey, let cache = cache.localImageCache else { return .none }
        let variants = cache.variants(of: originalKey)
        guard !variants.isEmpty else { return .none }
        return VariantRequest(decode.options, coder: decode.coder, chain).choose(among: variants) { variant in
            cache.image(of: variant, of: originalKey).flatMap { gate.admits(transformed: $0) ? $0 : nil }
        }
    }

    /// Notes an image that is being stored in memory, for loads of other sizes.
    ///
    /// - Parameters:
    ///   - chain: The transformers that were applied to it.
    ///   - isExact: False if it was scaled from another size, or read from a file other than the original.
    func noteVariant(_ image: Image, forKey key: String, _ chain: Chain, isExact: Bool = true) {
        guard let originalKey, let cache = cache.localImageCache,
            let variant = variant(image, forKey: key, chain, isExact: isExact)
        else { return }
        cache.note(variant, of: originalKey)
    }

    /// Returns the description of an image that is being stored; nil for one that is useful for no other size.
    func variant(_ image: Image, forKey key: String, _ chain: Chain, isExact: Bool) -> ImageVariant? {
        let (metadata, options) = (image.metadata, decode.options)
        guard let hash = metadata.knownSourceHash,
            image.orientation == .up, image.animation == nil, !metadata.isAnimated, !metadata.isIncremental,
            !metadata.isDamaged, metadata.scaleDownLimitBytes == 0, metadata.sourceWidth > 0, metadata.sourceHeight > 0
        else { return nil }
        let swaps = metadata.sourceOrientation.swapsSides
        let (width, height) = (metadata.sourceWidth, metadata.sourceHeight)
        // Shapes are drawn sharper than scaled pixels are, files with several images may have another one for each size, and frames of
        // videos are scaled by another library. Transformers after the first may have had an image of any origin as input.
        let format = metadata.format
        let isMadeForSize = metadata.isVector || format.isVector || format == .raw || format == .ico || format.isVideo
        return ImageVariant(
            key: key,
            size: (image.pixelWidth, image.pixelHeight),
            sourceSize: swaps ? (height, width) : (width, height),
            sourceHash: hash,
            kind: ImageVariant.Kind(options, coder: decode.coder, transformerKey: chain.key),
            isFirstFrame: metadata.isFirstFrame,
            isExact: isExact && !isMadeForSize && options.scalingQuality == .high && chain.transformers.count <= 1
        )
    }
}

extension ResultWork {
    /// Scales an image of another size to the result. If that fails, the result is made from the original.
    func scale(_ scaling: LoadPlan.Scaling, _ job: WorkJob) {
        if scaling.source == .memory { job.note(.memoryHit(key: scaling.variant.key)) }
        job.note(.queued(.transform))
        let (size, options) = ((width: scaling.width, height: scaling.height), plan.decode.options)
        // The closure owns the input, and is released before the end.
        let input = Lock<Image?>(scaling.image)
        job.perform(.bytes(scaling.image.scalingNeed(to: size)), after: scaling.image) { given in
            guard let source = input.withLock({ $0.take() }), !job.isCancelled else { return }
            do throws(WebImageError) {
                _ = try given.get()
                let image = try source.scaled(to: size, for: options)
                job.pipeline.budget.made(image)
                let made = PipelineImage(image: image, source: scaling.source, isScaled: true)
                if !job.isCancelled { job.finish(.success(.image(plan.stored(made, job.trace)))) }
            } catch {
                guard !error.isOfMemoryBudget else { return job.finish(.failure(error.with(url: plan.url))) }
                make(job, usesVariants: false)
            }
        }
    }
}

extension ManagedLoad {
    /// Delivers an image of another size from memory as a preview, unless the result is scaled from one, which takes only milliseconds.
    ///
    /// - Parameter hash: The hash of the bytes that the preview must have been made of; nil for any.
    func deliverPreview(for plan: LoadPlan, madeOf hash: UInt64? = nil) {
        guard manager.sizeReuse(for: load) != .none, !operation.takesOneResult,
            case .preview(let image, let variant) = plan.variantChoice(), image.mayBeMade(of: hash)
        else { return }
        let preview = WebImageResult(previewing: image, from: .memory, url: url, key: variant.key, plan)
        operation.deliver(preview, isPreview: true)
    }
}

extension WebImageResult {
    /// Creates a preview from an image of another size.
    ///
    /// - Parameter key: The key of that image, never that of the result, for which it is too small.
    init(previewing image: Image, from source: ImageCacheType, url: URL, key: String, _ plan: LoadPlan) {
        var metadata = image.metadata
        metadata.isIncremental = true
        self.init(
            image: image.scaled(to: plan.decode.options.scaleFactor).with(metadata: metadata),
            cacheType: source,
            url: url,
            cacheKey: key,
            isFinal: false
        )
    }
}
