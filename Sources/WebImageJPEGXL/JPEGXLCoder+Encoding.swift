import CJPEGXL
public import FoundationEssentials
public import WebImage

extension JPEGXLCoder {
    /// JPEG XL only.
    public func canEncode(to format: ImageFormat) -> Bool { format == .jpegXL }

    /// Encodes a still picture as a codestream of 8 bits, by ``ImageEncodeOptions/compressionQuality`` or without loss; alpha is kept
    /// (libjxl 0.7 loses of it as of colours), and the orientation is applied to the pixels. Of an animation the image's own pixels
    /// are written.
    ///
    /// Quality follows cjxl: 1 is a distance of 0.1, 0.9 of 1 (no visible loss), 0 of 25.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``,
    ///   ``WebImageError/Code/limitExceeded`` when the file cannot be made small enough,
    ///   ``WebImageError/Code/unsupportedFormat`` for another format.
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
        guard let encoder = JxlEncoderCreate(nil) else {
            throw WebImageError(.outOfMemory, "no memory to encode JPEG XL")
        }
        defer { JxlEncoderDestroy(encoder) }
        try describe(rows, to: encoder, isLossless: options.isLossless)
        try addPicture(rows, to: encoder, options: options)
        JxlEncoderCloseInput(encoder)
        return try output(of: encoder)
    }

    /// cjxl's distance for a quality of 0...1.
    static func distance(quality: Double) -> Float {
        let percent = quality.isNaN ? 100 : min(max(quality, 0), 1) * 100
        if percent >= 30 { return Float(0.1 + (100 - percent) * 0.09) }
        return Float(53.0 / 3000 * percent * percent - 23.0 / 20 * percent + 25)
    }

    /// Of 1...9. From here on up libjxl takes more than twice the time for less than 5 % fewer bytes.
    private static let effort: Int64 = 4

    private static func describe(
        _ rows: EncodableRows,
        to encoder: OpaquePointer,
        isLossless: Bool
    ) throws(WebImageError) {
        var info = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&info)
        info.xsize = UInt32(rows.width)
        info.ysize = UInt32(rows.height)
        info.bits_per_sample = 8
        info.num_color_channels = 3
        info.num_extra_channels = rows.hasAlpha ? 1 : 0
        info.alpha_bits = rows.hasAlpha ? 8 : 0
        info.uses_original_profile = isLossless ? 1 : 0
        try check(JxlEncoderSetBasicInfo(encoder, &info), encoder)
        var color = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&color, 0)
        try check(JxlEncoderSetColorEncoding(encoder, &color), encoder)
    }

    private static func addPicture(
        _ rows: EncodableRows,
        to encoder: OpaquePointer,
        options: ImageEncodeOptions
    ) throws(WebImageError) {
        guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
            throw WebImageError(.outOfMemory, "no memory to encode JPEG XL")
        }
        try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort), encoder)
        if options.isLossless {
            try check(JxlEncoderSetFrameLossless(settings, 1), encoder)
        } else {
            try check(
                JxlEncoderSetFrameDistance(settings, distance(quality: options.compressionQuality)),
                encoder
            )
        }
        // libjxl wants the picture in one piece.
        let bytesPerRow = rows.width * (rows.hasAlpha ? 4 : 3)
        let picture = try ScratchBuffer(byteCount: bytesPerRow * rows.height)
        var row = 0
        try rows.forEachBlock { (base, stride, count) throws(WebImageError) in
            for index in 0..<count {
                (picture.base + (row + index) * bytesPerRow).copyMemory(
                    from: base + index * stride,
                    byteCount: bytesPerRow
                )
            }
            row += count
        }
        var format = JxlPixelFormat(
            num_channels: rows.hasAlpha ? 4 : 3,
            data_type: JXL_TYPE_UINT8,
            endianness: JXL_NATIVE_ENDIAN,
            align: 0
        )
        try check(
            JxlEncoderAddImageFrame(settings, &format, picture.base, bytesPerRow * rows.height),
            encoder
        )
    }

    private static func output(of encoder: OpaquePointer) throws(WebImageError) -> Data {
        var output = Data()
        let chunk = try ScratchBuffer(byteCount: 64 << 10)
        while true {
            var next: UnsafeMutablePointer<UInt8>? = chunk.bytes
            var room = chunk.byteCount
            let status = JxlEncoderProcessOutput(encoder, &next, &room)
            output.append(chunk.bytes, count: chunk.byteCount - room)
            if status == JXL_ENC_SUCCESS { return output }
            guard status == JXL_ENC_NEED_MORE_OUTPUT else {
                throw WebImageError(.encodingFailed, "JPEG XL: \(reason(encoder))")
            }
        }
    }

    private static func check(_ status: JxlEncoderStatus, _ encoder: OpaquePointer) throws(WebImageError) {
        guard status != JXL_ENC_SUCCESS else { return }
        let isMemory = JxlEncoderGetError(encoder) == JXL_ENC_ERR_OOM
        throw WebImageError(isMemory ? .outOfMemory : .encodingFailed, "JPEG XL: \(reason(encoder))")
    }

    private static func reason(_ encoder: OpaquePointer) -> String {
        "the encoder failed (error \(JxlEncoderGetError(encoder).rawValue))"
    }
}
