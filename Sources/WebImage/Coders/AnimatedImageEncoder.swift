public import FoundationEssentials

/// A coder that writes animations.
public protocol AnimatedImageEncoder: ImageCoder {
    /// Whether this coder writes animations in the format.
    func canEncodeAnimation(to format: ImageFormat) -> Bool

    /// Encodes an animation: all frames with their durations, and how often it plays
    /// (``ImageEncodeOptions/loopCount``, else the animation's own).
    ///
    /// One frame, or the first alone (``ImageEncodeOptions/encodeFirstFrameOnly``), becomes a still picture of the format. Frames
    /// are asked for one by one, in order, and let go of again, so that memory does not grow with their number; with
    /// ``ImageEncodeOptions/maxFileSize`` up to eight times over. All must have the size of the first one.
    ///
    /// - Throws: what the animation throws for a frame, ``WebImageError/Code/encodingFailed``,
    ///   ``WebImageError/Code/limitExceeded`` when the format cannot hold a picture of that size or the result cannot be made
    ///   small enough, ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/outOfMemory``.
    func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data
}

extension AnimatedImageEncoder {
    /// The format of animations that come from none: WebP, which holds all colours and alpha, or GIF where only that is written.
    var defaultAnimationFormat: ImageFormat {
        canEncodeAnimation(to: .webp) || !canEncodeAnimation(to: .gif) ? .webp : .gif
    }
}

extension AnimatedImageProvider {
    /// Encodes the animation with the shared coders, on the library's own threads.
    ///
    /// - Parameters:
    ///   - format: `.undefined` means the format that the animation comes from, if the coder writes animations of it; else
    ///     WebP, or GIF where the coder writes no animated WebP.
    ///   - options: quality, size and the like.
    ///   - coder: what encodes; the shared coders by default.
    /// - Throws: what ``AnimatedImageEncoder/encode(_:to:options:)`` throws.
    public func encoded(
        as format: ImageFormat = .undefined,
        options: ImageEncodeOptions = ImageEncodeOptions(),
        coder: any AnimatedImageEncoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Data {
        try await CodingQueue.queue(of: self).run { () throws(WebImageError) in
            var target = format
            if target == .undefined {
                let own = self.animatedImageData.map { ImageFormat(detecting: $0) } ?? .undefined
                target = coder.canEncodeAnimation(to: own) ? own : coder.defaultAnimationFormat
            }
            return try coder.encode(self, to: target, options: options)
        }
    }
}
