extension ImageDecodeOptions {
    /// Creates the decode options of a load from its context and options. The context's own properties override its
    /// ``WebImageContext/decodeOptions``. For custom caches and loaders that decode.
    ///
    /// - Parameters:
    ///   - context: The context of the load.
    ///   - options: The options of the load; only those about decoding are used.
    ///   - key: The source of the scale (`@2x`), if the context has none.
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
        if let number = context.page { page = number }
        if let development = context.rawDevelopment { rawDevelopment = development }
        if let time = context.videoTime { videoTime = time }
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

extension ImageDecodeOptions {
    /// True if the options select the image that is stored under the file's own key: the first page, and the preview of a raw file.
    var selectsDefault: Bool { page == 0 && rawDevelopment == .preview }
}
