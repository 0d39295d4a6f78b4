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
