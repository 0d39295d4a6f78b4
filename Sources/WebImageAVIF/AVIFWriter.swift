import CAVIF
import FoundationEssentials
import WebImageCodecs

/// Writes one file with libavif, frame by frame. For one thread at a time.
final class AVIFWriter {
    private let encoder: UnsafeMutablePointer<avifEncoder>
    private let options: ImageEncodeOptions

    /// The unit of frame durations: milliseconds.
    static let ticksPerSecond = 1000

    /// - Parameter keyFrameInterval: the maximum number of frames from one key frame to the next, for a sequence; nil for a still image.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ options: ImageEncodeOptions, keyFrameInterval: Int32? = nil) throws(WebImageError) {
        guard let encoder = avifEncoderCreate() else { throw WebImageError(.outOfMemory, "no memory to encode AVIF") }
        let quantizer = AVIFCoder.quantizer(options)
        encoder.pointee.maxThreads = 1
        encoder.pointee.speed = keyFrameInterval == nil ? Self.speed : Self.sequenceSpeed
        encoder.pointee.timescale = UInt64(Self.ticksPerSecond)
        encoder.pointee.keyframeInterval = keyFrameInterval ?? 0
        encoder.pointee.minQuantizer = max(quantizer - (options.isLossless ? 0 : 4), 0)
        encoder.pointee.maxQuantizer = min(quantizer + (options.isLossless ? 0 : 4), 63)
        (encoder.pointee.minQuantizerAlpha, encoder.pointee.maxQuantizerAlpha) = (0, 0)
        self.encoder = encoder
        self.options = options
    }

    deinit { avifEncoderDestroy(encoder) }

    /// The encoder's speed, 0 (slow) ... 10.
    private static let speed: Int32 = 7
    /// From speed 7 on libaom uses its real-time mode, in which version 3.6 crashes on small frames.
    private static let sequenceSpeed: Int32 = 6

    /// Encodes a frame.
    ///
    /// - Parameter duration: in ticks; nil for a still image.
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``.
    func add(_ rows: EncodableRows, duration: Int? = nil) throws(WebImageError) {
        let image = try Self.makeImage(of: rows, options: options)
        defer { avifImageDestroy(image) }
        let flags = duration == nil ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE
        let ticks = UInt64(duration ?? 1)
        try Self.check(avifEncoderAddImage(encoder, image, ticks, avifAddImageFlags(flags.rawValue)))
    }

    /// Returns the encoded file.
    func finish() throws(WebImageError) -> Data {
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try Self.check(avifEncoderFinish(encoder, &output))
        guard let bytes = output.data, output.size > 0 else {
            throw WebImageError(.encodingFailed, "AVIF: the encoder produced no data")
        }
        return Data(bytes: bytes, count: output.size)
    }

    /// - Returns: an image that the caller has to destroy.
    private static func makeImage(
        of rows: EncodableRows,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> UnsafeMutablePointer<avifImage> {
        let isSharp = AVIFCoder.isSharp(options)
        let created = avifImageCreate(
            UInt32(rows.width),
            UInt32(rows.height),
            8,
            isSharp ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
        )
        guard let image = created else { throw WebImageError(.outOfMemory, "no memory to encode AVIF") }
        image.pointee.yuvRange = AVIF_RANGE_FULL
        // BT.709 primaries, sRGB's curve, and BT.601's matrix, or RGB without a matrix.
        image.pointee.colorPrimaries = 1
        image.pointee.transferCharacteristics = 13
        image.pointee.matrixCoefficients = options.isLossless ? 0 : 6
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
            avifRGBImageSetDefaults(&rgb, image)
            rgb.format = rows.hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
            rgb.pixels = pixels.bytes
            rgb.rowBytes = UInt32(bytesPerRow)
            try check(avifImageRGBToYUV(image, &rgb))
            return image
        } catch {
            avifImageDestroy(image)
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
