/// The frames of an animation as encoders need them: one at a time, upright, within the requested size, all of the same size, premultiplied BGRA.
package struct EncodableFrames {
    package let animation: any AnimatedImageProvider
    package let options: ImageEncodeOptions
    /// The size of the first frame, and so of all.
    private var size: (width: Int, height: Int)?

    package init(_ animation: any AnimatedImageProvider, options: ImageEncodeOptions) {
        self.animation = animation
        self.options = options
    }

    package var count: Int { animation.frameCount }

    /// The loop count of the result; 0 means infinite.
    package var loopCount: Int { max(options.loopCount ?? animation.loopCount, 0) }

    /// - Throws: the errors of the animation; ``WebImageError/Code/encodingFailed`` for a frame whose size differs from the first;
    ///   ``WebImageError/Code/decodeTimedOut`` after the options' deadline.
    package mutating func frame(at index: Int) throws(WebImageError) -> Bitmap {
        try options.deadline?.check()
        let image = try animation.frame(at: index)
        let pixels = try image.bitmap.prepared(for: options, orientation: image.orientation)
            .with8Bits(of: image.metadata).withAlpha()
        let first = size ?? (pixels.width, pixels.height)
        guard first == (pixels.width, pixels.height) else {
            throw WebImageError(
                .encodingFailed,
                "frame \(index) is \(pixels.width)x\(pixels.height) in an animation of \(first.width)x\(first.height)"
            )
        }
        size = first
        return pixels
    }
}
