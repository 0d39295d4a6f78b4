public import FoundationEssentials
public import WebImageCodecs

extension AVIFCoder: AnimatedImageEncoder {
    /// Returns whether the format is AVIF and libavif has an encoder.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { canEncode(to: format) }

    /// Encodes an animation as a sequence, lossy by ``ImageEncodeOptions/compressionQuality`` or lossless, with alpha and a key frame at least every
    /// 30 frames.
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
        guard canEncodeAnimation(to: format) else {
            throw WebImageError(.unsupportedFormat, "the AVIF coder does not write \(format)")
        }
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            let frames = EncodableFrames(animation, options: options)
            do throws(WebImageError) {
                return try Self.write(frames)
            } catch {
                // libaom fails on the lossless differences of some noisy frames.
                guard error.code == .encodingFailed else { throw error }
                return try Self.write(frames, keyFramesOnly: true)
            }
        }
    }

    private static func write(_ frames: EncodableFrames, keyFramesOnly: Bool = false) throws(WebImageError) -> Data {
        var frames = frames
        var ticks = FrameTicks(perSecond: AVIFWriter.ticksPerSecond, fewest: 11, most: Int(UInt32.max))
        let writer = try AVIFWriter(frames.options, keyFrameInterval: keyFramesOnly ? 1 : keyFrameInterval)
        for index in 0..<frames.count {
            let rows = EncodableRows(try frames.frame(at: index))
            if index == 0 { try check(rows) }
            try writer.add(rows, duration: ticks.ticks(for: frames.animation.duration(at: index)))
        }
        let file = try writer.finish()
        // A file without a loop count plays infinitely.
        return frames.loopCount == 0 ? file : try AVIFLoops.set(frames.loopCount, in: file)
    }

    /// The maximum number of frames from one key frame to the next. Playing backwards and seeking decode from a key frame on.
    private static var keyFrameInterval: Int32 { 30 }
}
