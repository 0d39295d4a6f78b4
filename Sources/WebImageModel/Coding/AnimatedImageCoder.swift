public import FoundationEssentials

/// A coder that decodes the frames of animations one by one.
public protocol AnimatedImageCoder: ImageCoder {
    /// Opens an animation. Reads only the headers and decodes nothing yet.
    ///
    /// - Parameters:
    ///   - data: an encoded image; a still one is an animation of one frame. Kept as long as the provider lives.
    ///   - options: apply to every frame; the byte limit applies to all of them together.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider
}

/// A coder that encodes animations.
public protocol AnimatedImageEncoder: ImageCoder {
    /// Returns whether this coder encodes animations in the format.
    func canEncodeAnimation(to format: ImageFormat) -> Bool

    /// Encodes an animation: all frames with their durations, and the loop count (``ImageEncodeOptions/loopCount``, else the
    /// animation's).
    ///
    /// A single frame, or only the first (``ImageEncodeOptions/encodeFirstFrameOnly``), becomes a still image of the format. Frames
    /// are requested one by one, in order, and released again, so that memory does not grow with their number; with
    /// ``ImageEncodeOptions/maxFileSize`` up to eight times over. All must have the size of the first one.
    ///
    /// - Throws: what the animation throws for a frame, ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/limitExceeded``
    ///   if the format cannot hold an image of that size or the result cannot be made small enough,
    ///   ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/outOfMemory``.
    func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data
}
