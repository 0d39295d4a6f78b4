public import FoundationEssentials

/// A coder that decodes images progressively, while they download.
public protocol ProgressiveImageCoder: ImageCoder {
    /// Returns whether an image that begins like this can be shown before it is complete. Looks at no more than the first few
    /// bytes; false if they are not enough to decide.
    func canDecodeIncrementally(_ data: Data) -> Bool

    /// Creates a decoder for an image of which no data has arrived yet.
    ///
    /// - Parameter options: as for ``ImageCoder/decode(_:options:)``; they apply to previews and the complete image.
    func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder
}

/// A decoder for one image that is still downloading, which continues each time where it stopped.
///
/// Used by one thread at a time, never one of Swift's cooperative pool. Must not be used after an error.
public protocol ProgressiveImageDecoder: AnyObject, Sendable {
    /// The properties of the file: not nil as soon as the size is known, whether or not there will be previews. Later data may add
    /// to it: an orientation, a colour profile, frames. After the final update it equals ``ImageCoder/properties(of:limits:)``.
    var properties: ImageProperties? { get }

    /// Continues with the data that has arrived. Cost: proportional to the new bytes.
    ///
    /// - Parameters:
    ///   - data: all bytes so far, including those of earlier calls; they may be at another address than before.
    ///   - isFinished: whether the image is complete.
    /// - Throws: what ``ImageCoder/decode(_:options:)`` throws, as soon as it is known; the error for missing bytes only if
    ///   `isFinished`.
    func update(_ data: Data, isFinished: Bool) throws(WebImageError)

    /// Returns the image as far as it is decoded, transparent where it is missing; nil while there is nothing to show.
    ///
    /// Before the end it is a preview: its ``ImageMetadata/isIncremental`` is true, and a big image may be smaller than the final
    /// one by a whole factor. After the final update it is, bit for bit, the result of ``ImageCoder/decode(_:options:)``.
    ///
    /// - Parameter maximumPreviewPixelCount: the approximate maximum of pixels of a preview; the finished image has its full size.
    /// - Throws: ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded``.
    func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image?

    /// The cost of a preview for the part of the image that has not arrived, relative to the cost of decoding that part. 0, the
    /// default, for decoders that leave the missing part out or draw it cheaply; 1 for one that draws the whole image for each
    /// preview. Previews are throttled until their cost fits the quarter of the decode that they may take.
    var missingPartPreviewCost: Double { get }
}

extension ProgressiveImageDecoder {
    /// 0: the missing part costs nothing.
    public var missingPartPreviewCost: Double { 0 }
}
