package import FoundationEssentials

extension ImageCoder {
    /// Decodes, and says of the image what a coder of one's own may have left unsaid: that it is less than the bytes are must be
    /// known of an image before it is put anywhere. An animation gets its frames, to be decoded when they are asked for.
    package func completeImage(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let image = try complete(try decode(data, options: options), of: data, options: options)
        // Coders of this process are believed.
        if (self as? any PlacedCoder)?.queue(for: data) != nil { try MemoryReservation.current()?.check(image) }
        return image
    }

    /// The same for an image that was decoded of the data.
    package func complete(_ image: Image, of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let image = image.completed(by: options)
        guard image.metadata.isAnimated, image.animation == nil else { return image }
        do throws(WebImageError) {
            guard let coder = self as? any AnimatedImageCoder else {
                throw WebImageError(.unsupportedFormat, "the coder decodes only the first frame of animations")
            }
            return try image.animated(by: coder.animation(of: data, options: options), options: options)
        } catch {
            // A picture that cannot move is better than none, unless it must.
            guard !options.requiresAnimation else { throw error }
            return image
        }
    }
}

extension Image {
    /// The image that a coder made with these options, with everything said of it that follows from them.
    package func completed(by options: ImageDecodeOptions) -> Image {
        var metadata = options.decodeFirstFrameOnly ? metadata.ofFirstFrame : metadata
        let isKnown = metadata.sourceWidth > 0 && metadata.sourceHeight > 0
        let isWhole = isKnown && pixelWidth * pixelHeight >= metadata.sourceWidth * metadata.sourceHeight
        if !isWhole, !metadata.isThumbnail, metadata.scaleDownLimitBytes == 0 {
            // Where the size of the file's picture is not known, what was asked for as a thumbnail counts as one.
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

    /// The image with the frames of a provider, of which it is the first.
    fileprivate func animated(
        by provider: any AnimatedImageProvider,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        guard provider.frameCount > 1 else {
            throw WebImageError(.badImageData, "of \(metadata.frameCount) frames there is only the first")
        }
        let animation = AnimatedImage(provider: provider, first: self)
        // Frames that do not fit into memory together are decoded one by one.
        if options.preloadsAllFrames { try? animation.preloadAllFrames() }
        return with(animation: animation)
    }
}
