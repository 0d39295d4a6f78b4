extension Image {
    /// Returns the image as a decode with `options` would have made it: within the thumbnail size and the byte limit, upright, in the requested pixel
    /// format. Unchanged pixels are shared; the frames of an animation are reduced on request.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    package func reduced(by options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let first = try frame(reducedBy: options)
        guard let animation, first.metadata.isAnimated else { return first }
        guard first.bitmap.storage !== bitmap.storage else { return first.with(animation: animation) }
        let (count, loops) = (metadata.frameCount, metadata.loopCount)
        // Frames may have alpha even if the first has none.
        let need = reductionNeed(by: options, bytesPerPixel: max(bitmap.pixelFormat.bytesPerPixel, 4))
        return first.with(
            animation: animation.mapped(first: first, need: { need }) {
                (frame) throws(WebImageError) in
                // The byte limit applies to all frames together.
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
        let plan = try plan(reducingTo: options)
        var pixels = try Resampler.resize(
            bitmap,
            width: plan.width,
            height: plan.height,
            quality: options.scalingQuality
        )
        pixels = try pixels.upright(from: orientation)
        var metadata = metadata
        if !options.keepsHighBitDepth, options.pixelFormat != .rgbaHalfPremultiplied {
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

    private func plan(reducingTo options: ImageDecodeOptions) throws(WebImageError) -> DecodePlan {
        var properties = ImageProperties(format: format, width: pixelWidth, height: pixelHeight)
        properties.orientation = orientation
        properties.hasAlpha = hasAlpha
        properties.frameCount = metadata.frameCount
        return try DecodePlan.make(for: properties, options: options)
    }
}

extension Image {
    /// Returns the memory cost of ``reduced(by:)``: the sum of the copies that its steps make. The cost is 0 if the pixels stay unchanged, and if it
    /// throws.
    ///
    /// - Parameter bytesPerPixel: those of the image to reduce; this image's by default.
    package func reductionNeed(by options: ImageDecodeOptions, bytesPerPixel: Int? = nil) -> TransformMemoryNeed {
        let bytes = bytesPerPixel ?? bitmap.pixelFormat.bytesPerPixel
        var extent = ImageExtent(width: pixelWidth, height: pixelHeight, bytesPerPixel: bytes)
        var need = TransformMemoryNeed(output: extent.making(0, 0), workingByteCount: 0)
        guard let plan = try? plan(reducingTo: options) else { return need }
        func copied() {
            need.workingByteCount += need.output.byteCount
            need.output = extent
        }
        if plan.width != extent.width || plan.height != extent.height {
            let size = (extent.width, extent.height)
            (extent.width, extent.height) = (plan.width, plan.height)
            copied()
            need.workingByteCount += AssemblyNeed.resampling(
                size,
                to: (plan.width, plan.height),
                bytesPerPixel: extent.bytesPerPixel
            )
        }
        if orientation != .up {
            if orientation.swapsSides { (extent.width, extent.height) = (extent.height, extent.width) }
            copied()
        }
        let becomesHalf = options.pixelFormat == .rgbaHalfPremultiplied
        if extent.bytesPerPixel > 4, !options.keepsHighBitDepth, !becomesHalf {
            extent.bytesPerPixel = 4
            copied()
            // Opaque images then lose their alpha, which is another copy.
            need.workingByteCount += extent.byteCount
        }
        let least = becomesHalf ? 8 : options.pixelFormat == .bgra8Premultiplied ? 4 : 0
        if extent.bytesPerPixel < least {
            extent.bytesPerPixel = least
            copied()
        }
        return need
    }
}

extension Image {
    /// Returns the image at exactly this size, which is that of a decode of its source with `options`. For an upright still image that was
    /// decoded from the same source at another size, with the same options otherwise; at the same size, the pixels are shared.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func scaled(
        to size: (width: Int, height: Int),
        for options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        let pixels = try Resampler.resize(
            bitmap,
            width: size.width,
            height: size.height,
            quality: options.scalingQuality
        )
        var metadata = metadata
        let (width, height) = metadata.sourceOrientation.swapsSides ? (size.height, size.width) : size
        metadata.isThumbnail = width < metadata.sourceWidth || height < metadata.sourceHeight
        if options.decodeFirstFrameOnly { metadata = metadata.ofFirstFrame }
        return Image(
            bitmap: pixels,
            scale: metadata.isTransformed ? scale : options.scaleFactor,
            metadata: metadata,
            decodeOptions: options,
            extendedData: extendedData,
            memoryCost: pixels.storage === bitmap.storage ? memoryCost : nil
        )
    }

    /// Returns the number of bytes that ``scaled(to:for:)`` takes beside the image; 0 if the size is the same.
    package func scalingNeed(to size: (width: Int, height: Int)) -> Int {
        guard size.width != pixelWidth || size.height != pixelHeight else { return 0 }
        let bytes = bitmap.pixelFormat.bytesPerPixel
        let output = ImageExtent(width: size.width, height: size.height, bytesPerPixel: bytes)
        return output.byteCount
            + AssemblyNeed.resampling((pixelWidth, pixelHeight), to: size, bytesPerPixel: bytes)
    }
}
