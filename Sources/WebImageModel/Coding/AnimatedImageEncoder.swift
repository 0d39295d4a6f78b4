public import FoundationEssentials

/// A coder that writes animations.
public protocol AnimatedImageEncoder: ImageCoder {
    /// Whether this coder writes animations in the format.
    func canEncodeAnimation(to format: ImageFormat) -> Bool

    /// Encodes an animation: all frames with their durations, and how often it plays
    /// (``ImageEncodeOptions/loopCount``, else the animation's own).
    ///
    /// One frame, or the first alone (``ImageEncodeOptions/encodeFirstFrameOnly``), becomes a still picture of the format. Frames
    /// are asked for one by one, in order, and let go of again, so that memory does not grow with their number; with
    /// ``ImageEncodeOptions/maxFileSize`` up to eight times over. All must have the size of the first one.
    ///
    /// - Throws: what the animation throws for a frame, ``WebImageError/Code/encodingFailed``,
    ///   ``WebImageError/Code/limitExceeded`` when the format cannot hold a picture of that size or the result cannot be made
    ///   small enough, ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/outOfMemory``.
    func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data
}

extension AnimatedImageEncoder {
    /// The format of animations that come from none: WebP, which holds all colours and alpha, or GIF where only that is written.
    package var defaultAnimationFormat: ImageFormat {
        canEncodeAnimation(to: .webp) || !canEncodeAnimation(to: .gif) ? .webp : .gif
    }
}
