public import FoundationEssentials

/// Turns encoded bytes into images and back, for one or several formats.
///
/// Methods may be called from several threads at once and, ``canDecode(_:)`` aside, never on a thread of Swift's cooperative pool.
public protocol ImageCoder: Sendable {
    /// Whether this coder takes data that starts like this. Looks at no more than the first and last few bytes.
    ///
    /// Must be quick and wait for nothing: it is called on any thread, also one of the cooperative pool. Data can be just the least
    /// bytes that tell a format: so a downloader finds out what to ask for in `Accept`, once whenever the coders of
    /// ``ImageCodersManager/shared`` have changed.
    func canDecode(_ data: Data) -> Bool

    /// What the header says. Cost: reads headers only, except where a format keeps its frame count elsewhere.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties

    /// Decodes the picture (the first frame of an animation), upright, in sRGB.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for bytes that are no picture or end too early,
    ///   ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image

    /// What ``decode(_:options:)`` with these options takes of memory. Cost: reads the header. Coders that do not tell are taken for
    /// ones that hold the whole picture twice.
    ///
    /// - Throws: what ``properties(of:limits:)`` throws.
    func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed

    /// Whether this coder writes the format.
    func canEncode(to format: ImageFormat) -> Bool

    /// Encodes an image.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/limitExceeded`` when the format cannot hold
    ///   a picture of that size.
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data
}
