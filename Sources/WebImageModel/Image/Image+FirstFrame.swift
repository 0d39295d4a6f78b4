package import FoundationEssentials

extension Image {
    /// The image without its frames; its metadata still has their number.
    package var withoutAnimation: Image {
        guard animation != nil else { return self }
        return Image(
            bitmap: bitmap,
            scale: scale,
            orientation: orientation,
            metadata: metadata,
            decodeOptions: decodeOptions,
            extendedData: extendedData
        )
    }

    /// The image as a still image: for an animation, only the first frame.
    package var still: Image { metadata.isAnimated ? with(metadata: metadata.ofFirstFrame) : self }

    /// Returns whether the image can be used where an animation may be wanted.
    ///
    /// - Parameter isRequired: whether an animation without frames is not acceptable.
    package func servesAsAnimation(isRequired: Bool) -> Bool {
        !metadata.isFirstFrame && !(isRequired && metadata.isAnimated && animation == nil)
    }
}

extension Image {
    /// The bytes that the whole animation was decoded from; nil for a still image, and if it was decoded only in part.
    package var encodedAnimation: Data? {
        guard !metadata.isThumbnail, !metadata.isTransformed, metadata.scaleDownLimitBytes == 0 else { return nil }
        return animation?.animatedImageData
    }
}

extension ImageMetadata {
    /// The metadata of only the first frame; unchanged for a still image.
    package var ofFirstFrame: ImageMetadata {
        guard isAnimated else { return self }
        var metadata = self
        metadata.frameCount = 1
        metadata.loopCount = 0
        metadata.isFirstFrame = true
        return metadata
    }
}
