package import FoundationEssentials

extension ImageCoder {
    /// Decodes, and completes the metadata that a custom coder may not have set: an image must say that it is smaller than its
    /// source before it is cached or displayed. An animation gets its frames, which are decoded on demand.
    package func completeImage(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let image = try complete(try decode(data, options: options), of: data, options: options)
        // In-process coders are trusted; only the results of workers are checked.
        if (self as? any OutOfProcessCoder)?.queue(for: data) != nil { try image.checkAdmittedByteCount() }
        return image
    }

    /// Completes an image that was decoded from the data, in the same way.
    package func complete(_ image: Image, of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let image = image.completed(by: options)
        guard image.metadata.isAnimated, image.animation == nil else { return image }
        do throws(WebImageError) {
            guard let coder = self as? any AnimatedImageCoder else {
                throw WebImageError(.unsupportedFormat, "the coder decodes only the first frame of animations")
            }
            return try image.animated(by: coder.animation(of: data, options: options), options: options)
        } catch {
            // A still image is better than none, unless an animation is required.
            guard !options.requiresAnimation else { throw error }
            return image
        }
    }
}

extension Image {
    /// Returns the image with all metadata that follows from the options it was decoded with.
    package func completed(by options: ImageDecodeOptions) -> Image {
        var metadata = options.decodeFirstFrameOnly ? metadata.ofFirstFrame : metadata
        let isKnown = metadata.sourceWidth > 0 && metadata.sourceHeight > 0
        let isWhole = isKnown && pixelWidth * pixelHeight >= metadata.sourceWidth * metadata.sourceHeight
        if !isWhole, !metadata.isThumbnail, metadata.scaleDownLimitBytes == 0 {
            // If the size of the source is not known, an image for which a thumbnail was requested counts as one.
            if options.isThumbnail {
                metadata.isThumbnail = true
            } else if isKnown, options.scaleDownLimitBytes > 0 {
                metadata.scaleDownLimitBytes = options.scaleDownLimitBytes
            }
        }
        let scale = options.scaleFactor.isFinite ? max(options.scaleFactor, 1) : 1
        if metadata == self.metadata, decodeOptions != nil, self.scale == scale { return self }
        return Image(
            bitmap: bitmap,
            scale: scale,
            orientation: orientation,
            metadata: metadata,
            decodeOptions: decodeOptions ?? options,
            extendedData: extendedData,
            memoryCost: memoryCost,
            animation: animation
        )
    }

    /// Returns the image with the frames of a provider, of which it is the first.
    fileprivate func animated(
        by provider: any AnimatedImageProvider,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        guard provider.frameCount > 1 else {
            throw WebImageError(.badImageData, "only the first of \(metadata.frameCount) frames is available")
        }
        let animation = AnimatedImage(provider: provider, first: self)
        // Frames that do not fit into memory together are decoded one by one.
        if options.preloadsAllFrames { try? animation.preloadAllFrames() }
        return with(animation: animation)
    }
}
