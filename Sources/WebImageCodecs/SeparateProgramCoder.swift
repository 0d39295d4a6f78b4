package import FoundationEssentials

/// A coder of formats that only a separate worker program decodes: it recognises them, so that an `IsolatedImageCoder` around it sends them to that
/// program. The libraries of such a format have a licence that not every program can accept.
package protocol SeparateProgramCoder: ImageCoder {
    static var formats: Set<ImageFormat> { get }
    /// The decoded kind of file, as the subject of a sentence: "videos are".
    static var subject: String { get }
    /// The name of the program.
    static var program: String { get }
}

extension SeparateProgramCoder {
    /// Returns whether the data begins like a file of one of the formats.
    public func canDecode(_ data: Data) -> Bool { Self.formats.contains(ImageFormat(detecting: data)) }

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
        throw WebImageError(.unsupportedFormat, "\(Self.subject) not encoded")
    }

    private static var unavailable: WebImageError {
        WebImageError(
            .decoderUnavailable,
            "\(subject) decoded only in worker processes (WebImageFormats.registerAll(), IsolatedImageCoder), by the program \(program)"
        )
    }
}
