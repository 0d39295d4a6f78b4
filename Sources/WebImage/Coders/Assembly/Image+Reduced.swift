extension Image {
    /// The image as a decode with `options` would have made it of an encoded one: within the thumbnail size and the byte limit,
    /// upright, in the pixel format asked for. Pixels are shared when nothing is to be done to them; the frames of an animation
    /// are made when they are asked for.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func reduced(by options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let first = try frame(reducedBy: options)
        guard let animation, first.metadata.isAnimated else { return first }
        guard first.bitmap.storage !== bitmap.storage else { return first.with(animation: animation) }
        let (count, loops) = (metadata.frameCount, metadata.loopCount)
        return first.with(
            animation: animation.mapped(first: first) { (frame) throws(WebImageError) in
                // The byte limit is for all frames together.
                var metadata = frame.metadata
                (metadata.frameCount, metadata.loopCount) = (count, loops)
                let reduced = try frame.with(metadata: metadata).frame(reducedBy: options)
                metadata = reduced.metadata
                (metadata.frameCount, metadata.loopCount) = (1, 0)
                return reduced.with(metadata: metadata)
            }
        )
    }

    private func frame(reducedBy options: ImageDecodeOptions) throws(WebImageError) -> Image {
        var properties = ImageProperties(format: format, width: pixelWidth, height: pixelHeight)
        properties.orientation = orientation
        properties.hasAlpha = hasAlpha
        properties.frameCount = metadata.frameCount
        let plan = try DecodePlan.make(for: properties, options: options)
        var pixels = try Resampler.resize(
            bitmap,
            width: plan.width,
            height: plan.height,
            quality: options.scalingQuality
        )
        pixels = try pixels.upright(from: orientation)
        var metadata = metadata
        if !options.keepsWidePixels, options.pixelFormat != .rgbaHalfPremultiplied {
            pixels = try pixels.with8Bits(of: metadata)
            metadata.isHighDynamicRange = false
        }
        if options.pixelFormat == .bgra8Premultiplied { pixels = try pixels.withAlpha() }
        if options.pixelFormat == .rgbaHalfPremultiplied { pixels = try pixels.converted(to: .rgbaHalfPremultiplied) }
        metadata.isThumbnail = metadata.isThumbnail || plan.isThumbnail
        metadata.scaleDownLimitBytes = plan.scaleDownLimitBytes
        if metadata.sourceWidth == 0 || metadata.sourceHeight == 0 {
            metadata.sourceWidth = pixelWidth
            metadata.sourceHeight = pixelHeight
            metadata.sourceOrientation = orientation
        }
        if options.decodeFirstFrameOnly { metadata = metadata.ofFirstFrame }
        return Image(
            bitmap: pixels,
            scale: options.scaleFactor > 1 ? options.scaleFactor : scale,
            metadata: metadata,
            decodeOptions: options,
            extendedData: extendedData,
            memoryCost: pixels.storage === bitmap.storage && animation == nil ? memoryCost : nil
        )
    }
}
