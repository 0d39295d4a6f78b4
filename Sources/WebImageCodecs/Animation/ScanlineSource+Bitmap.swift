extension ScanlineSource {
    /// Returns all rows, unscaled, in sRGB, as they are drawn on a canvas.
    ///
    /// - Throws: the errors of reading rows, ``WebImageError/Code/limitExceeded``, and ``WebImageError/Code/outOfMemory``.
    package func bitmap(of file: ImageProperties, limits: ImageLimits) throws(WebImageError) -> Bitmap {
        try limits.check(width: width, height: height)
        try limits.check(decodedByteCount: width * height * (layout.hasAlpha ? 4 : 3))
        let properties = ImageProperties(format: file.format, width: width, height: height)
        var options = ImageDecodeOptions()
        options.limits = limits
        let plan = DecodePlan(width: width, height: height, orientation: .up, isThumbnail: false)
        return try ImageAssembler.makeImage(from: self, properties: properties, plan: plan, options: options).bitmap
    }
}
