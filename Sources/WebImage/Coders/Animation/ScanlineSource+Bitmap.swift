extension ScanlineSource {
    /// All rows at their size, in sRGB, as they are drawn on a canvas.
    ///
    /// - Throws: what reading throws, and ``WebImageError/Code/outOfMemory``.
    func bitmap(of file: ImageProperties, limits: ImageLimits) throws(WebImageError) -> Bitmap {
        let properties = ImageProperties(format: file.format, width: width, height: height)
        var options = ImageDecodeOptions()
        options.limits = limits
        let plan = DecodePlan(width: width, height: height, orientation: .up, isThumbnail: false)
        return try ImageAssembler.makeImage(from: self, properties: properties, plan: plan, options: options).bitmap
    }
}
