extension ImageDecodeOptions {
    /// The decode options that a load's context and options mean: those of the context's own properties win over its
    /// ``WebImageContext/decodeOptions``. For caches and loaders of one's own that decode.
    ///
    /// - Parameters:
    ///   - context: what the load says of decoding.
    ///   - options: those that concern decoding are looked at.
    ///   - key: tells the scale (`@2x`), where the context does not.
    public init(_ context: WebImageContext, options: WebImageOptions, key: String) {
        self = context.decodeOptions ?? ImageDecodeOptions()
        if options.contains(.decodeFirstFrameOnly) { decodeFirstFrameOnly = true }
        if options.contains(.preloadAllFrames) { preloadsAllFrames = true }
        if options.contains(.matchAnimatedImageClass) { requiresAnimation = true }
        if let factor = context.imageScaleFactor, factor >= 1 {
            scaleFactor = factor
        } else if scaleFactor == 1 {
            scaleFactor = ImageScaleFactor.forKey(key)
        }
        if let size = context.thumbnailPixelSize { thumbnailPixelSize = size }
        if let preserve = context.preserveAspectRatio { preserveAspectRatio = preserve }
        if let covers = context.thumbnailCovers { thumbnailCovers = covers }
        switch context.formatHint {
        case .inherited: break
        case .none: formatHint = nil
        case .format(let format): formatHint = format
        }
        if let decodesToHDR = context.decodeToHDR { decodeToHDR = decodesToHDR }
        if let limit = context.scaleDownLimitBytes {
            scaleDownLimitBytes = limit
        } else if options.contains(.scaleDownLargeImages), scaleDownLimitBytes == 0 {
            scaleDownLimitBytes = Self.defaultScaleDownLimitBytes
        }
    }
}
