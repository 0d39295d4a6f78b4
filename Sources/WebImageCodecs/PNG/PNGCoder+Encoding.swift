import CPNGShims
public import FoundationEssentials

extension PNGCoder {
    /// Returns whether the format is PNG.
    public func canEncode(to format: ImageFormat) -> Bool { format == .png }

    /// Encodes the image, with alpha if it has any. Quality is ignored; the orientation is applied to the pixels.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` when the file is larger than ``ImageEncodeOptions/maxFileSize``,
    ///   ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/unsupportedFormat`` for another
    ///   format.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard format == .png else { throw WebImageError(.unsupportedFormat, "the PNG coder does not write \(format)") }
        let rows = try EncodableRows(image, options: options)
        return try options.withinFileSize(isLossless: true) { (_) throws(WebImageError) in try Self.encode(rows) }
    }

    private static func encode(_ rows: EncodableRows) throws(WebImageError) -> Data {
        guard let writer = webimage_png_writer_create() else {
            throw WebImageError(.outOfMemory, "no memory to encode PNG")
        }
        defer { webimage_png_writer_destroy(writer) }
        let isBegun = webimage_png_write_header(
            writer,
            UInt32(clamping: rows.width),
            UInt32(clamping: rows.height),
            rows.hasAlpha ? WEBIMAGE_PNG_RGBA : WEBIMAGE_PNG_RGB
        )
        guard isBegun else { throw error(of: writer) }
        try rows.forEachBlock { (base, stride, count) throws(WebImageError) in
            guard webimage_png_write_rows(writer, base, stride, UInt32(count)) else { throw error(of: writer) }
        }
        var count = 0
        guard let bytes = webimage_png_written(writer, &count) else { throw error(of: writer) }
        return Data(bytes: bytes, count: count)
    }

    static func error(of writer: OpaquePointer) -> WebImageError {
        WebImageError(.encodingFailed, "PNG: " + String(cString: webimage_png_writer_error(writer)))
    }
}
