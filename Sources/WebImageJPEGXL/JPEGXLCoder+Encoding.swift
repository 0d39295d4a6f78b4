public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder {
    /// Returns whether the format is JPEG XL.
    public func canEncode(to format: ImageFormat) -> Bool { format == .jpegXL }

    /// Encodes a still image as a codestream of 8 bits, by ``ImageEncodeOptions/compressionQuality`` or lossless. Alpha is kept (in lossy files
    /// libjxl 0.7 encodes it lossily, like colours), and the orientation is applied to the pixels. Of an animation only the image's own pixels are
    /// written.
    ///
    /// Quality follows cjxl: 1 is a distance of 0.1, 0.9 of 1 (no visible loss), 0 of 25.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded`` when the file cannot
    ///   be made small enough, ``WebImageError/Code/unsupportedFormat`` for another format.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard format == .jpegXL else {
            throw WebImageError(.unsupportedFormat, "the JPEG XL coder does not write \(format)")
        }
        let rows = try EncodableRows(image, options: options)
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try Self.encode(rows, options)
        }
    }

    private static func encode(_ rows: EncodableRows, _ options: ImageEncodeOptions) throws(WebImageError) -> Data {
        let size = (rows.width, rows.height)
        let writer = try JPEGXLWriter(size: size, hasAlpha: rows.hasAlpha, options: options)
        try writer.add(rows)
        return try writer.finish()
    }

    /// Returns cjxl's distance for a quality of 0...1.
    static func distance(quality: Double) -> Float {
        let percent = quality.isNaN ? 100 : min(max(quality, 0), 1) * 100
        if percent >= 30 { return Float(0.1 + (100 - percent) * 0.09) }
        return Float(53.0 / 3000 * percent * percent - 23.0 / 20 * percent + 25)
    }
}
