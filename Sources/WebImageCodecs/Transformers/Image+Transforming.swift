extension Image {
    /// The pixels as they are seen, for an effect that moves or scales them, in any format.
    func uprightBitmap() throws(WebImageError) -> Bitmap { try bitmap.upright(from: orientation) }

    /// The pixels as they are seen, for an effect that computes colours: in one of the two formats of 8 bits.
    func uprightBitmapIn8Bits() throws(WebImageError) -> Bitmap {
        try bitmap.with8Bits(of: metadata).upright(from: orientation)
    }

    /// An image of pixels that an effect made of this one: one picture, whatever the file held.
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
    /// The error of an effect that is asked for something that makes no picture.
    static func untransformable(_ message: String) -> WebImageError { WebImageError(.transformFailed, message) }
}

extension ImageTransformer {
    /// The result of an effect as the transformer hands it out: without what belongs to the picture if it does not preserve that.
    func handingOut(_ result: Image) -> Image {
        guard !preservesImageMetadata else { return result }
        return Image(
            bitmap: result.bitmap,
            scale: result.scale,
            orientation: result.orientation,
            decodeOptions: result.limitsAlone
        )
    }
}
