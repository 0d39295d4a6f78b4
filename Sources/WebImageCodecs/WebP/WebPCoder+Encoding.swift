import CWebP
public import FoundationEssentials

extension WebPCoder {
    /// The longest side of a WebP image.
    private static let longestSide = 16_383

    /// Returns whether the format is WebP.
    public func canEncode(to format: ImageFormat) -> Bool { format == .webp }

    /// Encodes a still image, lossy by ``ImageEncodeOptions/compressionQuality`` or lossless; alpha is kept, and the orientation is applied to the
    /// pixels.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` when a side is longer than 16 383 pixels or the file cannot be made small enough,
    ///   ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/unsupportedFormat`` for another format.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard format == .webp else {
            throw WebImageError(.unsupportedFormat, "the WebP coder does not write \(format)")
        }
        let rows = try EncodableRows(image, options: options)
        try Self.check(width: rows.width, height: rows.height)
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try Self.encode(rows, options)
        }
    }

    static func check(width: Int, height: Int) throws(WebImageError) {
        let side = max(width, height)
        guard side <= longestSide else {
            throw .limitExceeded("longest side of WebP", allowed: longestSide, required: side)
        }
    }

    /// Encodes the rows as a file.
    static func encode(_ rows: EncodableRows, _ options: ImageEncodeOptions) throws(WebImageError) -> Data {
        var config = try config(options)
        var picture = WebPPicture()
        var writer = WebPMemoryWriter()
        guard WebPPictureInit(&picture) != 0 else { throw WebImageError(.encodingFailed, "WebP: version mismatch") }
        defer { WebPPictureFree(&picture) }
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        picture.use_argb = 1
        picture.width = Int32(rows.width)
        picture.height = Int32(rows.height)
        guard WebPPictureAlloc(&picture) != 0, let pixels = picture.argb else {
            throw WebImageError(.outOfMemory, "no memory to encode WebP")
        }
        for row in 0..<rows.height {
            // Numbers 0xAARRGGBB, which are the bytes BGRA on every Linux machine that Swift supports.
            let line = UnsafeMutableRawPointer(pixels + row * Int(picture.argb_stride))
            rows.writeBGRA(row: row, to: line.assumingMemoryBound(to: UInt8.self))
        }
        let isEncoded = withUnsafeMutablePointer(to: &writer) { writer in
            picture.writer = WebPMemoryWrite
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            return WebPEncode(&config, &picture) != 0
        }
        guard isEncoded, let bytes = writer.mem else {
            let code = picture.error_code
            throw WebImageError(
                code == VP8_ENC_ERROR_OUT_OF_MEMORY ? .outOfMemory : .encodingFailed,
                "WebP: the encoder failed (code \(code.rawValue))"
            )
        }
        return Data(bytes: bytes, count: writer.size)
    }

    private static func config(_ options: ImageEncodeOptions) throws(WebImageError) -> WebPConfig {
        var config = WebPConfig()
        let quality = options.compressionQuality.isNaN ? 1 : min(max(options.compressionQuality, 0), 1)
        var isValid = WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, Float(quality * 100)) != 0
        if isValid, options.isLossless { isValid = WebPConfigLosslessPreset(&config, losslessEffort) != 0 }
        guard isValid else { throw WebImageError(.encodingFailed, "WebP: version mismatch with the installed libwebp") }
        return config
    }

    /// The effort of lossless encoding, 0...9.
    private static let losslessEffort: Int32 = 4
}
