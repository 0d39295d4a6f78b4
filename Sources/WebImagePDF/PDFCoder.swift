public import WebImageCodecs

/// Recognises PDF. Worker processes draw its pages with poppler.
///
/// poppler is GPL, so no program that uses this library links it, except the worker program `webimage-decoder-pdf`. Install that program where PDF is
/// drawn. `WebImageFormats.registerAll()` registers `IsolatedImageCoder(DecodeIsolation(formats: [.pdf]), base: PDFCoder())`. Without the program, or
/// without an `IsolatedImageCoder` around this coder, each document fails with ``WebImage/WebImageError/Code/decoderUnavailable``.
///
/// ``WebImage/ImageDecodeOptions/page`` selects the page, which is drawn on white. A page has no pixel size: with
/// ``WebImage/ImageDecodeOptions/thumbnailPixelSize`` it is drawn at that size, **also when that is larger** than the page, as SVG is. Without one,
/// its size is that of the page's crop box in points (72 to the inch), rounded up, after the page's rotation.
///
/// Outside the document, only fonts and poppler's character tables are read. Scripts and actions do not run, and links are not followed. Documents
/// that need a password are ``WebImage/WebImageError/Code/badImageData``. ``WebImage/ImageMetadata/isVector`` and
/// ``WebImage/ImageMetadata/pageCount`` are set. Encoding PDF is not supported.
public struct PDFCoder: SeparateProgramCoder {
    /// Creates a coder.
    public init() {}

    package static let formats: Set<ImageFormat> = [.pdf]
    package static let subject = "PDF is"
    package static let program = "webimage-decoder-pdf"
}
