extension Image {
    /// Returns the pixels in upright orientation, in any pixel format, for an effect that moves or scales them.
    func uprightBitmap() throws(WebImageError) -> Bitmap { try bitmap.upright(from: orientation) }

    /// Returns the pixels in upright orientation in one of the two 8-bit formats, for an effect that computes colours.
    func uprightBitmapIn8Bits() throws(WebImageError) -> Bitmap {
        try bitmap.with8Bits(of: metadata).upright(from: orientation)
    }

    /// Returns an image of pixels that an effect made of this one: a still image, even if the file was animated.
    func replacing(_ bitmap: Bitmap) -> Image {
        var metadata = metadata
        metadata.isTransformed = true
        metadata.frameCount = 1
        metadata.loopCount = 0
        metadata.isVector = false
        if bitmap.pixelFormat != self.bitmap.pixelFormat, self.bitmap.pixelFormat == .rgbaHalfPremultiplied {
            metadata.isHighDynamicRange = false
        }
        return Image(
            bitmap: bitmap,
            scale: scale,
            metadata: metadata,
            decodeOptions: decodeOptions,
            extendedData: extendedData
        )
    }
}

extension WebImageError {
    /// Returns the error for invalid arguments of an effect.
    static func untransformable(_ message: String) -> WebImageError { WebImageError(.transformFailed, message) }
}

extension ImageTransformer {
    /// Returns the result of an effect as the transformer returns it: without the image's metadata unless the transformer preserves it.
    func handingOut(_ result: Image) -> Image {
        guard !preservesImageMetadata else { return result }
        return Image(
            bitmap: result.bitmap,
            scale: result.scale,
            orientation: result.orientation,
            decodeOptions: result.limitsOnly
        )
    }
}
