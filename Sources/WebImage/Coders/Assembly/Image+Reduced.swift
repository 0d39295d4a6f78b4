extension Image {
    /// The image as a decode with `options` would have made it of an encoded one: within the thumbnail size and the byte limit,
    /// upright, in the pixel format asked for. Pixels are shared when nothing is to be done to them.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func reduced(by options: ImageDecodeOptions) throws(WebImageError) -> Image {
        var properties = ImageProperties(format: format, width: pixelWidth, height: pixelHeight)
        properties.orientation = orientation
        properties.hasAlpha = hasAlpha
        let plan = try DecodePlan.make(for: properties, options: options)
        var pixels = try Resampler.resize(
            bitmap,
            width: plan.width,
            height: plan.height,
            quality: options.scalingQuality
        )
        pixels = try pixels.upright(from: orientation)
        if options.pixelFormat == .bgra8Premultiplied { pixels = try pixels.withAlpha() }
        var metadata = metadata
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
            memoryCost: pixels.storage === bitmap.storage ? memoryCost : nil
        )
    }
}
