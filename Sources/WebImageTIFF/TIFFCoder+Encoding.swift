import CTIFFShims
public import FoundationEssentials
public import WebImageCodecs

extension TIFFCoder {
    /// The compression of a TIFF; all are lossless.
    public enum Compression: Int, Sendable, Hashable, OptionKey {
        /// LZW with a predictor, which every program supports.
        case lzw = 0
        /// Deflate with a predictor: smaller, and slower to write.
        case deflate = 1
        /// Run-length encoding.
        case packBits = 2
        /// No compression.
        case none = 3

        /// The default: LZW.
        public static let defaultValue = Compression.lzw

        var number: webimage_tiff_compression {
            switch self {
            case .lzw: WEBIMAGE_TIFF_LZW
            case .deflate: WEBIMAGE_TIFF_DEFLATE
            case .packBits: WEBIMAGE_TIFF_PACKBITS
            case .none: WEBIMAGE_TIFF_UNCOMPRESSED
            }
        }
    }

    /// Returns whether the format is TIFF.
    public func canEncode(to format: ImageFormat) -> Bool { format == .tiff }

    /// Encodes one page of 8 bits per sample, upright, with straight alpha if the image has any; quality is ignored.
    ///
    /// The compression is LZW, or `options.values[TIFFCoder.Compression.self]`.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/encodingFailed``, ``WebImage/WebImageError/Code/outOfMemory``,
    ///   ``WebImage/WebImageError/Code/limitExceeded`` for more bytes than ``WebImage/ImageEncodeOptions/maxFileSize``,
    ///   ``WebImage/WebImageError/Code/unsupportedFormat`` for another format.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard canEncode(to: format) else {
            throw WebImageError(.unsupportedFormat, "the TIFF coder does not write \(format)")
        }
        let rows = try EncodableRows(image, options: options)
        return try options.withinFileSize(isLossless: true) { (options) throws(WebImageError) in
            try Self.encode(rows, options)
        }
    }

    private static func encode(_ rows: EncodableRows, _ options: ImageEncodeOptions) throws(WebImageError) -> Data {
        guard let writer = webimage_tiff_writer_create() else {
            throw WebImageError(.outOfMemory, "no memory to encode TIFF")
        }
        defer { webimage_tiff_writer_destroy(writer) }
        let compression = options.values[Compression.self]
        let (width, height) = (UInt32(clamping: rows.width), UInt32(clamping: rows.height))
        guard webimage_tiff_write_header(writer, width, height, rows.hasAlpha, compression.number) else {
            throw error(of: writer)
        }
        try rows.forEachBlock { (base, stride, count) throws(WebImageError) in
            guard webimage_tiff_write_rows(writer, base, stride, UInt32(count)) else { throw error(of: writer) }
        }
        var count = 0
        guard let bytes = webimage_tiff_finish(writer, &count) else { throw error(of: writer) }
        return Data(bytes: bytes, count: count)
    }

    private static func error(of writer: OpaquePointer) -> WebImageError {
        WebImageError(.encodingFailed, "TIFF: " + String(cString: webimage_tiff_writer_error(writer)))
    }
}
