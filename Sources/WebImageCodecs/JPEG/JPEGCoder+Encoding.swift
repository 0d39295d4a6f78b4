import CJPEGShims
import CPixels
public import FoundationEssentials
import Glibc

extension JPEGCoder {
    /// The longest side that libjpeg writes.
    private static let maximumSide = 65_500

    /// Returns whether the format is JPEG.
    public func canEncode(to format: ImageFormat) -> Bool { format == .jpeg }

    /// Encodes a baseline JPEG, upright, without metadata except the thumbnail of ``ImageEncodeOptions/encodeEmbedThumbnail``. Images that
    /// are no larger than the thumbnail have none.
    ///
    /// Quality 0...1 becomes libjpeg's 1...100. Chroma is stored at half the resolution (4:2:0) below 0.9 and in full (4:4:4) from there
    /// on. Pixels with alpha are blended on ``ImageEncodeOptions/backgroundColor``, white by default.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard canEncode(to: format) else { throw WebImageError(.unsupportedFormat, "the JPEG coder writes only JPEG") }
        let bitmap = try image.bitmap.prepared(for: options, orientation: image.orientation)
            .with8Bits(of: image.metadata)
        let side = max(bitmap.width, bitmap.height)
        guard side <= Self.maximumSide else {
            throw .limitExceeded("JPEG side length", allowed: Self.maximumSide, required: side)
        }
        let thumbnail = options.encodeEmbedThumbnail ? try Self.thumbnail(of: bitmap, options) : nil
        return try options.withinFileSize { (options) throws(WebImageError) in
            try Self.encode(bitmap, options, exif: thumbnail)
        }
    }

    /// Returns an EXIF block with a thumbnail of the image; nil if the image is no larger than that.
    private static func thumbnail(of bitmap: Bitmap, _ options: ImageEncodeOptions) throws(WebImageError) -> Data? {
        let size = DecodePlan.fit(width: bitmap.width, height: bitmap.height, box: EXIFThumbnail.box)
        guard size.width < bitmap.width || size.height < bitmap.height else { return nil }
        var small = options
        small.compressionQuality = EXIFThumbnail.quality
        let copy = try Resampler.resize(bitmap, width: size.width, height: size.height)
        return EXIFThumbnail.block(try encode(copy, small, exif: nil))
    }

    private static func encode(
        _ bitmap: Bitmap,
        _ options: ImageEncodeOptions,
        exif: Data?
    ) throws(WebImageError) -> Data {
        guard let encoder = webimage_jpeg_encoder_create() else {
            throw WebImageError(.outOfMemory, "no memory for a JPEG encoder")
        }
        defer { webimage_jpeg_encoder_free(encoder) }
        let quality = quality(options.compressionQuality)
        // Optimised Huffman tables would save 6 to 18 % of the bytes and triple the time.
        let optimizes = false
        try check(
            webimage_jpeg_encoder_start(
                encoder,
                UInt32(bitmap.width),
                UInt32(bitmap.height),
                quality,
                quality >= 90,
                optimizes
            ),
            encoder
        )
        if let exif {
            let status = exif.withUnsafeBytes { webimage_jpeg_encoder_exif(encoder, $0.baseAddress, $0.count) }
            try check(status, encoder)
        }
        try write(bitmap, to: encoder, background: options.backgroundColor ?? .white)
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        try check(webimage_jpeg_encoder_finish(encoder, &bytes, &count), encoder)
        guard let bytes else { throw WebImageError(.encodingFailed, "the JPEG encoder produced no data") }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    /// Returns libjpeg's quality, 1...100; NaN counts as the default, the best.
    static func quality(_ value: Double) -> Int32 {
        guard !value.isNaN else { return 100 }
        return Int32((min(max(value, 0.01), 1) * 100).rounded())
    }

    private static func write(
        _ bitmap: Bitmap,
        to encoder: OpaquePointer,
        background: ImageColor
    ) throws(WebImageError) {
        guard bitmap.pixelFormat.hasAlpha else {
            let rows = bitmap.mutableRow(0).assumingMemoryBound(to: UInt8.self)
            try check(
                webimage_jpeg_encoder_write(encoder, UInt32(bitmap.height), rows, bitmap.bytesPerRow),
                encoder
            )
            return
        }
        let block = min(Resampler.blockRows, bitmap.height)
        let stride = bitmap.width * 3
        let scratch = try ScratchBuffer(byteCount: stride * block)
        var row = 0
        while row < bitmap.height {
            let count = min(block, bitmap.height - row)
            for index in 0..<count {
                cpixels_bgra_onto_color(
                    bitmap.mutableRow(row + index),
                    scratch.bytes + index * stride,
                    bitmap.width,
                    background.red8,
                    background.green8,
                    background.blue8
                )
            }
            try check(webimage_jpeg_encoder_write(encoder, UInt32(count), scratch.bytes, stride), encoder)
            row += count
        }
    }

    private static func check(_ status: webimage_jpeg_status, _ encoder: OpaquePointer) throws(WebImageError) {
        guard status != webimage_jpeg_ok else { return }
        let message = String(cString: webimage_jpeg_encoder_message(encoder))
        throw WebImageError(
            status == webimage_jpeg_no_memory ? .outOfMemory : .encodingFailed,
            "the JPEG encoder failed: \(message)"
        )
    }
}
