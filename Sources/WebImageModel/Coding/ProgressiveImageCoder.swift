public import FoundationEssentials

/// A coder that decodes pictures while they arrive.
public protocol ProgressiveImageCoder: ImageCoder {
    /// Whether a picture that begins like this can be seen before it is whole. Looks at no more than the first few bytes; false
    /// when they do not tell yet.
    func canDecodeIncrementally(_ data: Data) -> Bool

    /// Begins a picture of which nothing is there yet.
    ///
    /// - Parameter options: as for ``ImageCoder/decode(_:options:)``; previews and the whole picture are made by them.
    func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder
}

/// Decodes one picture while it arrives, and goes on each time where it stopped.
///
/// Used by one thread at a time, never one of Swift's cooperative pool. After an error it is of no more use.
public protocol ProgressiveImageDecoder: AnyObject, Sendable {
    /// What is known of the file: not nil as soon as the size is, whether or not there will be previews. What comes later may
    /// add to it: an orientation, a colour profile, frames. After an update that finished it is what
    /// ``ImageCoder/properties(of:limits:)`` says.
    var properties: ImageProperties? { get }

    /// Goes on with what has come. Cost: in proportion to the bytes that are new.
    ///
    /// - Parameters:
    ///   - data: all bytes so far, those of earlier calls included; they may lie elsewhere in memory than before.
    ///   - isFinished: whether they are the whole picture.
    /// - Throws: what ``ImageCoder/decode(_:options:)`` throws, as soon as it is known; that bytes are missing, only when
    ///   `isFinished`.
    func update(_ data: Data, isFinished: Bool) throws(WebImageError)

    /// The picture as far as it can be seen, transparent where it is missing; nil while there is nothing to see.
    ///
    /// Before the end it is a preview: its ``ImageMetadata/isIncremental`` is true, and a big picture may be a whole number of
    /// times smaller than it will be. After an update that finished it is, bit for bit, what
    /// ``ImageCoder/decode(_:options:)`` makes of the bytes.
    ///
    /// - Parameter maximumPreviewPixelCount: about the most pixels of a preview; the finished picture has its own size.
    /// - Throws: ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded``.
    func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image?

    /// What a preview costs for the part of the picture that has not come, beside what decoding that part costs. 0, the default, of
    /// decoders that leave the missing part out or draw it cheaply; 1 of one that draws the whole picture for each preview. Previews
    /// are held back until what they cost fits the quarter of the decode that they may take.
    var missingPartPreviewCost: Double { get }
}

extension ProgressiveImageDecoder {
    /// 0: what is missing costs nothing.
    public var missingPartPreviewCost: Double { 0 }
}
