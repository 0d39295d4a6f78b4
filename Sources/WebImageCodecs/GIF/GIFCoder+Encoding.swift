import CPixels
public import FoundationEssentials
import Glibc

extension GIFCoder: AnimatedImageEncoder {
    /// Returns whether the format is GIF.
    public func canEncode(to format: ImageFormat) -> Bool { format == .gif }
    /// Returns whether the format is GIF.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { format == .gif }

    /// Encodes a still image.
    ///
    /// An image of up to 256 colours keeps them exactly. Otherwise the 256 colours that suit it best are chosen, and the errors are diffused to
    /// neighbouring pixels. A pixel is either opaque or transparent: see ``ImageEncodeOptions/backgroundColor``. Quality is ignored; with
    /// ``ImageEncodeOptions/maxFileSize`` there are fewer colours. The orientation is applied to the pixels.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` when a side is longer than 65 535 pixels or the file cannot be made small enough,
    ///   ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/unsupportedFormat`` for another format.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        try Self.check(format)
        let pixels = try image.bitmap.prepared(for: options, orientation: image.orientation)
            .with8Bits(of: image.metadata).withAlpha()
        let frame = try Self.frame(of: pixels, options)
        let searches = options.maxFileSize > 0
        return try options.withinFileSize { (options) throws(WebImageError) in
            let encoder = try GIFEncoder(
                width: pixels.width,
                height: pixels.height,
                loopCount: nil,
                colorLimit: searches ? Self.colorLimit(quality: options.compressionQuality) : 256
            )
            try encoder.add(frame)
            return try encoder.finish()
        }
    }

    /// Encodes an animation. Each frame stores only the rectangle that has changed, with a local palette if the first frame's palette lacks a colour.
    ///
    /// Durations are stored in hundredths of a second. The rounding error of a frame is carried over to the next, so each begins within a hundredth
    /// of its exact time. Durations are at least 0.02 s, since programs show shorter ones for 0.1 s, and at most 655.35 s.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard animation.frameCount > 1, !options.encodeFirstFrameOnly else {
            return try encode(try animation.frame(at: 0), to: format, options: options)
        }
        try Self.check(format)
        let searches = options.maxFileSize > 0
        return try options.withinFileSize { (options) throws(WebImageError) in
            var frames = EncodableFrames(animation, options: options)
            var ticks = FrameTicks(perSecond: 100, fewest: 2, most: 65_535)
            var encoder: GIFEncoder?
            for index in 0..<frames.count {
                let pixels = try frames.frame(at: index)
                var frame = try Self.frame(of: pixels, options)
                frame.ticks = ticks.ticks(for: animation.duration(at: index))
                if encoder == nil {
                    encoder = try GIFEncoder(
                        width: pixels.width,
                        height: pixels.height,
                        loopCount: frames.loopCount,
                        colorLimit: searches ? Self.colorLimit(quality: options.compressionQuality) : 256
                    )
                }
                try encoder?.add(frame)
            }
            guard let encoder else { throw WebImageError(.encodingFailed, "the animation has no frames") }
            return try encoder.finish()
        }
    }

    private static func check(_ format: ImageFormat) throws(WebImageError) {
        guard format == .gif else { throw WebImageError(.unsupportedFormat, "the GIF coder does not write \(format)") }
    }

    /// Returns the maximum number of colours of a frame for the file size search, 2...256.
    private static func colorLimit(quality: Double) -> Int { Int(2 * exp2(7 * quality)) }

    /// Returns the pixels for GIF: either opaque or transparent.
    private static func frame(
        of bitmap: Bitmap,
        _ options: ImageEncodeOptions
    ) throws(WebImageError) -> GIFEncoder.Frame {
        let result = try Bitmap.allocate(
            width: bitmap.width,
            height: bitmap.height,
            pixelFormat: .bgra8Premultiplied
        )
        let background = options.backgroundColor.map { [$0.red8, $0.green8, $0.blue8] }
        var opaqueCount = 0
        for row in 0..<bitmap.height {
            opaqueCount += cpixels_threshold(
                bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self),
                result.mutableRow(row).assumingMemoryBound(to: UInt8.self),
                bitmap.width,
                background
            )
        }
        return GIFEncoder.Frame(pixels: result, isOpaque: opaqueCount == bitmap.width * bitmap.height)
    }
}
