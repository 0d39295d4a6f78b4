import CAVIF
public import FoundationEssentials
public import WebImageCodecs

extension AVIFCoder {
    /// Returns whether the format is AVIF and libavif has an encoder.
    public func canEncode(to format: ImageFormat) -> Bool {
        let flags = avifCodecFlags(AVIF_CODEC_FLAG_CAN_ENCODE.rawValue)
        return format == .avif && avifCodecName(AVIF_CODEC_CHOICE_AUTO, flags) != nil
    }

    /// Encodes a still image of 8 bits, by ``ImageEncodeOptions/compressionQuality`` or lossless. Alpha is kept, always lossless, and the orientation
    /// is applied to the pixels. Of an animation only the image's own pixels are written.
    ///
    /// From a quality of 0.9 on chroma is stored at full resolution, below at half.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded`` for more than 65 536
    ///   pixels a side, or when the file cannot be made small enough, ``WebImageError/Code/unsupportedFormat`` for another format, or without an
    ///   encoder.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard canEncode(to: format) else {
            throw WebImageError(.unsupportedFormat, "the AVIF coder does not write \(format)")
        }
        let rows = try EncodableRows(image, options: options)
        try Self.check(rows)
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try Self.encode(rows, options)
        }
    }

    private static func encode(_ rows: EncodableRows, _ options: ImageEncodeOptions) throws(WebImageError) -> Data {
        let writer = try AVIFWriter(options)
        try writer.add(rows)
        return try writer.finish()
    }

    static func check(_ rows: EncodableRows) throws(WebImageError) {
        let side = max(rows.width, rows.height)
        guard side <= longestSide else {
            throw .limitExceeded("longest side of AVIF", allowed: longestSide, required: side)
        }
    }

    private static let longestSide = 65_536
    private static let sharpChromaQuality = 0.9

    private static func quality(_ options: ImageEncodeOptions) -> Double {
        options.compressionQuality.isNaN ? 1 : min(max(options.compressionQuality, 0), 1)
    }

    /// Returns the quantizer, 0 (best) ... 63, for a quality as later versions of libavif compute it.
    static func quantizer(_ options: ImageEncodeOptions) -> Int32 {
        options.isLossless ? 0 : Int32(((1 - quality(options)) * 63).rounded())
    }

    /// Returns whether chroma is stored at full resolution.
    static func isSharp(_ options: ImageEncodeOptions) -> Bool {
        options.isLossless || quality(options) >= sharpChromaQuality
    }
}
