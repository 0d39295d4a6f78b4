public import FoundationEssentials

/// A coder that hands out the frames of animations one by one.
public protocol AnimatedImageCoder: ImageCoder {
    /// Opens an animation. Reads what the headers say, and decodes nothing yet.
    ///
    /// - Parameters:
    ///   - data: an encoded picture; a still one is an animation of one frame. Kept as long as the provider lives.
    ///   - options: hold for every frame; the byte limit for all of them together.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider
}
