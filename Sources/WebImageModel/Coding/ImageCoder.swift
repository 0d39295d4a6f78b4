public import FoundationEssentials

/// Decodes and encodes images, in one or several formats.
///
/// Methods may be called from several threads at once and, except for ``canDecode(_:)``, never on a thread of Swift's cooperative
/// pool.
public protocol ImageCoder: Sendable {
    /// Returns whether this coder decodes data that starts like this. Looks at no more than the first and last few bytes.
    ///
    /// Must be quick and not block: it is called on any thread, also one of the cooperative pool. Data can be just the few bytes
    /// that identify a format: the downloader uses them to build `Accept`, once whenever the coders of
    /// ``ImageCodersManager/shared`` have changed.
    func canDecode(_ data: Data) -> Bool

    /// Returns the properties in the header. Cost: reads only headers, except if a format keeps its frame count elsewhere.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties

    /// Decodes the image (the first frame of an animation), upright, in sRGB.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for bytes that are not an image or end too early,
    ///   ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image

    /// Estimates the memory that ``decode(_:options:)`` with these options takes. Cost: reads the header. The default
    /// implementation assumes that the coder holds the whole image twice.
    ///
    /// - Throws: what ``properties(of:limits:)`` throws.
    func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed

    /// Returns whether this coder encodes the format.
    func canEncode(to format: ImageFormat) -> Bool

    /// Encodes an image.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/limitExceeded`` if the format cannot hold an image of
    ///   that size.
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data
}
