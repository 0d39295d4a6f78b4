import CAVIF
public import FoundationEssentials
public import WebImage

extension AVIFCoder {
    /// AVIF, if libavif has an encoder.
    public func canEncode(to format: ImageFormat) -> Bool {
        let flags = avifCodecFlags(AVIF_CODEC_FLAG_CAN_ENCODE.rawValue)
        return format == .avif && avifCodecName(AVIF_CODEC_CHOICE_AUTO, flags) != nil
    }

    /// Encodes a still picture of 8 bits, by ``ImageEncodeOptions/compressionQuality`` or without loss; alpha is kept and is always
    /// without loss, and the orientation is applied to the pixels. Of an animation the image's own pixels are written.
    ///
    /// From a quality of 0.9 on chroma is stored at full resolution, below at half.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``,
    ///   ``WebImageError/Code/limitExceeded`` for more than 65 536 pixels a side, or when the file cannot be made small enough,
    ///   ``WebImageError/Code/unsupportedFormat`` for another format, or without an encoder.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard canEncode(to: format) else {
            throw WebImageError(.unsupportedFormat, "the AVIF coder does not write \(format)")
        }
        let rows = try EncodableRows(image, options: options)
        let side = max(rows.width, rows.height)
        guard side <= Self.longestSide else {
            throw .limitExceeded("longest side of AVIF", allowed: Self.longestSide, required: side)
        }
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try Self.encode(rows, options)
        }
    }

    private static func encode(_ rows: EncodableRows, _ options: ImageEncodeOptions) throws(WebImageError) -> Data {
        let picture = try picture(of: rows, options: options)
        defer { avifImageDestroy(picture) }
        guard let encoder = avifEncoderCreate() else { throw WebImageError(.outOfMemory, "no memory to encode AVIF") }
        defer { avifEncoderDestroy(encoder) }
        let quantizer = quantizer(options)
        encoder.pointee.maxThreads = 1
        encoder.pointee.speed = speed
        encoder.pointee.minQuantizer = max(quantizer - (options.isLossless ? 0 : 4), 0)
        encoder.pointee.maxQuantizer = min(quantizer + (options.isLossless ? 0 : 4), 63)
        (encoder.pointee.minQuantizerAlpha, encoder.pointee.maxQuantizerAlpha) = (0, 0)
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderWrite(encoder, picture, &output))
        guard let bytes = output.data, output.size > 0 else {
            throw WebImageError(.encodingFailed, "AVIF: the encoder wrote nothing")
        }
        return Data(bytes: bytes, count: output.size)
    }

    private static let longestSide = 65_536
    /// Of 0 (slow) ... 10.
    private static let speed: Int32 = 7
    private static let sharpChromaQuality = 0.9

    private static func quality(_ options: ImageEncodeOptions) -> Double {
        options.compressionQuality.isNaN ? 1 : min(max(options.compressionQuality, 0), 1)
    }

    /// 0 (best) ... 63, as later versions of libavif make it of a quality.
    static func quantizer(_ options: ImageEncodeOptions) -> Int32 {
        options.isLossless ? 0 : Int32(((1 - quality(options)) * 63).rounded())
    }

    private static func picture(
        of rows: EncodableRows,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> UnsafeMutablePointer<avifImage> {
        let isSharp = options.isLossless || quality(options) >= sharpChromaQuality
        let created = avifImageCreate(
            UInt32(rows.width),
            UInt32(rows.height),
            8,
            isSharp ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
        )
        guard let picture = created else { throw WebImageError(.outOfMemory, "no memory to encode AVIF") }
        picture.pointee.yuvRange = AVIF_RANGE_FULL
        // BT.709 primaries, sRGB's curve, and BT.601's matrix, or RGB as it is.
        picture.pointee.colorPrimaries = 1
        picture.pointee.transferCharacteristics = 13
        picture.pointee.matrixCoefficients = options.isLossless ? 0 : 6
        do throws(WebImageError) {
            let bytesPerRow = rows.width * (rows.hasAlpha ? 4 : 3)
            let pixels = try ScratchBuffer(byteCount: bytesPerRow * rows.height)
            var row = 0
            try rows.forEachBlock { (base, stride, count) throws(WebImageError) in
                for index in 0..<count {
                    let target = pixels.base + (row + index) * bytesPerRow
                    target.copyMemory(from: base + index * stride, byteCount: bytesPerRow)
                }
                row += count
            }
            var rgb = avifRGBImage()
            avifRGBImageSetDefaults(&rgb, picture)
            rgb.format = rows.hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
            rgb.pixels = pixels.bytes
            rgb.rowBytes = UInt32(bytesPerRow)
            try check(avifImageRGBToYUV(picture, &rgb))
            return picture
        } catch {
            avifImageDestroy(picture)
            throw error
        }
    }

    private static func check(_ result: avifResult) throws(WebImageError) {
        guard result != AVIF_RESULT_OK else { return }
        let isMemory = result == AVIF_RESULT_OUT_OF_MEMORY
        throw WebImageError(
            isMemory ? .outOfMemory : .encodingFailed,
            "AVIF: \(String(cString: avifResultToString(result)))"
        )
    }
}
