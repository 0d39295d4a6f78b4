import FoundationEssentials

extension DecodePlan {
    /// Decides the size of a decode from the header, and checks the limits.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/badImageData`` for an image with no pixels, or
    ///   ``WebImageError/Code/pageNotFound``.
    package static func make(
        for properties: ImageProperties,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodePlan {
        guard options.page == 0 else { throw .pageNotFound(options.page, of: properties.pageCount) }
        let limits = options.limits
        try limits.check(width: properties.width, height: properties.height)
        guard options.decodeFirstFrameOnly || properties.frameCount <= limits.maximumFrameCount else {
            throw .limitExceeded(
                "maximumFrameCount",
                allowed: limits.maximumFrameCount,
                required: properties.frameCount
            )
        }
        let plan = sized(for: properties, options: options)
        let isHighBitDepth =
            options.keepsHighBitDepth && properties.isHighBitDepth || options.pixelFormat == .rgbaHalfPremultiplied
        let bytesPerPixel =
            isHighBitDepth ? 8 : properties.hasAlpha || options.pixelFormat == .bgra8Premultiplied ? 4 : 3
        try limits.check(decodedByteCount: plan.width * plan.height * bytesPerPixel)
        return plan
    }

    /// Boxes apply to the upright image, so that a portrait photo becomes a portrait thumbnail.
    private static func sized(for properties: ImageProperties, options: ImageDecodeOptions) -> DecodePlan {
        let swaps = properties.orientation.swapsSides
        let width = swaps ? properties.height : properties.width
        let height = swaps ? properties.width : properties.height
        var size = (width: width, height: height)
        if let box = options.thumbnailPixelSize, box.isUsable {
            size =
                if !options.preserveAspectRatio {
                    stretch(width: width, height: height, box: box)
                } else if options.thumbnailCovers {
                    cover(width: width, height: height, box: box)
                } else {
                    fit(width: width, height: height, box: box)
                }
        }
        let isThumbnail = size.width < width || size.height < height
        var isLimited = false
        if options.scaleDownLimitBytes > 0 {
            let frames = options.decodeFirstFrameOnly ? 1 : max(properties.frameCount, 1)
            let pixelLimit = options.scaleDownLimitBytes / 4 / frames
            isLimited = size.width * size.height > max(pixelLimit, 1)
            if isLimited { size = limited(width: size.width, height: size.height, pixelLimit: pixelLimit) }
        }
        return DecodePlan(
            width: swaps ? size.height : size.width,
            height: swaps ? size.width : size.height,
            orientation: properties.orientation,
            isThumbnail: isThumbnail,
            scaleDownLimitBytes: isLimited ? options.scaleDownLimitBytes : 0
        )
    }

    /// Returns the largest size within `box` that keeps the aspect ratio, each side rounded to nearest and at least 1; the size
    /// itself if it fits.
    package static func fit(width: Int, height: Int, box: ImageSize) -> (width: Int, height: Int) {
        let scale = min(box.width / Double(width), box.height / Double(height))
        guard scale < 1 else { return (width, height) }
        return (
            side(Double(width) * scale, within: box.width, source: width),
            side(Double(height) * scale, within: box.height, source: height)
        )
    }

    /// Returns the smallest size that covers `box` and keeps the aspect ratio, each side rounded to nearest but not below the box;
    /// the size itself if it has fewer pixels than that.
    package static func cover(width: Int, height: Int, box: ImageSize) -> (width: Int, height: Int) {
        let scale = max(box.width / Double(width), box.height / Double(height))
        guard scale < 1 else { return (width, height) }
        return (
            side(max(Double(width) * scale, box.width.rounded(.up)), within: .infinity, source: width),
            side(max(Double(height) * scale, box.height.rounded(.up)), within: .infinity, source: height)
        )
    }

    /// Returns exactly `box`, but no side longer than the source's.
    package static func stretch(width: Int, height: Int, box: ImageSize) -> (width: Int, height: Int) {
        (side(box.width, within: .infinity, source: width), side(box.height, within: .infinity, source: height))
    }

    /// Returns a size of at most `pixelLimit` pixels (and at least 1) with the aspect ratio of the image, sides rounded down; the
    /// size itself if it is within the limit.
    private static func limited(width: Int, height: Int, pixelLimit: Int) -> (width: Int, height: Int) {
        guard width * height > pixelLimit else { return (width, height) }
        let ratio = Double(height) / Double(width)
        let exactWidth = (Double(pixelLimit) / ratio).squareRoot()
        let sides = (width: max(Int(exactWidth), 1), height: max(Int(exactWidth * ratio), 1))
        // A very long image ends up one pixel high; then its length is cut to the limit.
        if sides.height == 1 { return (max(min(sides.width, pixelLimit), 1), 1) }
        if sides.width == 1 { return (1, max(min(sides.height, pixelLimit), 1)) }
        return sides
    }

    /// Compares before it converts: a side may be any finite number, and `Int` traps on those it cannot hold.
    private static func side(_ value: Double, within limit: Double, source: Int) -> Int {
        let rounded = min(value.rounded(.toNearestOrAwayFromZero), limit.rounded(.down))
        return rounded >= Double(source) ? source : max(Int(rounded), 1)
    }
}
