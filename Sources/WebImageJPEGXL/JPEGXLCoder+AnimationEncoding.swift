import CJPEGXL
public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder: AnimatedImageEncoder {
    /// Returns whether the format is JPEG XL.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { format == .jpegXL }

    /// Encodes an animation, lossy by ``ImageEncodeOptions/compressionQuality`` or lossless, with alpha. Each frame stores only the rectangle that
    /// has changed.
    ///
    /// Durations are stored in milliseconds. The rounding error of a frame is carried over to the next, so each begins within a millisecond of its
    /// exact time. Durations are at most 49 days.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard animation.frameCount > 1, !options.encodeFirstFrameOnly else {
            return try encode(try animation.frame(at: 0), to: format, options: options)
        }
        guard format == .jpegXL else {
            throw WebImageError(.unsupportedFormat, "the JPEG XL coder does not write \(format)")
        }
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try Self.write(EncodableFrames(animation, options: options))
        }
    }

    private static func write(_ frames: EncodableFrames) throws(WebImageError) -> Data {
        var frames = frames
        var ticks = FrameTicks(perSecond: ticksPerSecond, fewest: 11, most: Int(UInt32.max))
        var shown = try frames.frame(at: 0)
        var animation = JxlAnimationHeader()
        animation.tps_numerator = UInt32(ticksPerSecond)
        animation.tps_denominator = 1
        animation.num_loops = UInt32(clamping: frames.loopCount)
        let writer = try JPEGXLWriter(
            size: (shown.width, shown.height),
            hasAlpha: true,
            options: frames.options,
            animation: animation
        )
        for index in 0..<frames.count {
            let next = index == 0 ? shown : try frames.frame(at: index)
            let area = index == 0 ? nil : PixelArea.difference(shown, next) ?? .corner
            let duration = UInt32(ticks.ticks(for: frames.animation.duration(at: index)))
            try writer.add(
                EncodableRows(area.map { next.part($0) } ?? next),
                area: area,
                duration: duration,
                isLast: index == frames.count - 1
            )
            shown = next
        }
        return try writer.finish()
    }

    private static var ticksPerSecond: Int { 1000 }
}
