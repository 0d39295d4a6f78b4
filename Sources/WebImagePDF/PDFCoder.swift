public import FoundationEssentials
public import WebImageCodecs

/// Recognises PDF, whose pages worker processes draw with poppler.
///
/// poppler is GPL, so nothing in a program that uses this library links it: the worker program `webimage-decoder-pdf` does, and is needed where PDF is
/// drawn. `WebImageFormats.registerAll()` registers `IsolatedImageCoder(DecodeIsolation(formats: [.pdf]), base: PDFCoder())`. Without the program, and
/// if the coder is used without an `IsolatedImageCoder`, each document is ``WebImage/WebImageError/Code/decoderUnavailable``.
///
/// A page is drawn on white. ``WebImage/ImageDecodeOptions/page`` selects it. It has no pixel size: with
/// ``WebImage/ImageDecodeOptions/thumbnailPixelSize`` it is drawn at that size, **also when that is larger** than the page, as ``SVGCoder`` does.
/// Without one, its size is that of the page's crop box in points (72 to the inch), rounded up, turned as the page says.
///
/// Nothing outside the document is read but fonts and poppler's tables of characters. Scripts and actions do not run, and links are not followed.
/// Documents that need a password are ``WebImage/WebImageError/Code/badImageData``. ``WebImage/ImageMetadata/isVector`` and
/// ``WebImage/ImageMetadata/pageCount`` are set. Encoding PDF is not supported.
public struct PDFCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data begins like a PDF document.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .pdf }

    /// Throws ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        throw Self.unavailable
    }

    /// Throws ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        throw Self.unavailable
    }

    /// Throws ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed { throw Self.unavailable }

    /// Returns false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImage/WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding PDF is not supported")
    }

    private static let unavailable = WebImageError(
        .decoderUnavailable,
        "PDF is drawn only in worker processes (WebImageFormats.registerAll(), IsolatedImageCoder), by the program webimage-decoder-pdf"
    )
}
