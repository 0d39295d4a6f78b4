extension Bitmap {
    /// Returns the pixels for an encoder without orientation tags: scaled down to fit ``ImageEncodeOptions/maxPixelSize`` (never up), and
    /// upright.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func prepared(
        for options: ImageEncodeOptions,
        orientation: ImageOrientation
    ) throws(WebImageError) -> Bitmap {
        var bitmap = self
        if let box = options.maxPixelSize, box.isUsable {
            let swaps = orientation.swapsSides
            let size = DecodePlan.fit(width: swaps ? height : width, height: swaps ? width : height, box: box)
            bitmap = try Resampler.resize(
                bitmap,
                width: swaps ? size.height : size.width,
                height: swaps ? size.width : size.height
            )
        }
        return try bitmap.upright(from: orientation)
    }
}
