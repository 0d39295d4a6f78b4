package import FoundationEssentials

extension Image {
    /// The image without its frames; it still tells how many there are.
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

    /// The image as a still picture: for an animation, the first frame alone.
    package var still: Image { metadata.isAnimated ? with(metadata: metadata.ofFirstFrame) : self }

    /// Whether the image serves where an animation may be wanted.
    ///
    /// - Parameter isRequired: whether an animation without frames does not do.
    package func servesAsAnimation(isRequired: Bool) -> Bool {
        !metadata.isFirstFrame && !(isRequired && metadata.isAnimated && animation == nil)
    }
}

extension Image {
    /// The bytes that the whole animation was decoded from; nil for a still picture, and for less than all of the bytes.
    package var encodedAnimation: Data? {
        guard !metadata.isThumbnail, !metadata.isTransformed, metadata.scaleDownLimitBytes == 0 else { return nil }
        return animation?.animatedImageData
    }
}

extension ImageMetadata {
    /// What is known of the first frame alone; the same for what is no animation.
    package var ofFirstFrame: ImageMetadata {
        guard isAnimated else { return self }
        var metadata = self
        metadata.frameCount = 1
        metadata.loopCount = 0
        metadata.isFirstFrame = true
        return metadata
    }
}
