extension Image {
    /// The image as a still picture: for an animation, the first frame alone.
    package var still: Image { metadata.isAnimated ? with(metadata: metadata.ofFirstFrame) : self }
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
