public import FoundationEssentials

extension WebPCoder: AnimatedImageCoder {
    /// Opens an animation: steps through the headers of its frames. The background colour that the file names is not looked at: what
    /// no frame covers is transparent, as in browsers.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        let limits = options.limits
        let container = try Self.container(of: data, limits: limits, wantsFrames: true)
        let file = Self.properties(container, limits)
        return try ComposedAnimation(
            data,
            frames: container.frames.map(AnimationFrame.init),
            properties: file,
            options: options,
            decoderByteCount: container.frames.reduce(0) { max($0, Self.memory(of: $1)) }
        ) { (index) throws(WebImageError) in
            let picture = container.alone(container.frames[index])
            try limits.check(decodedByteCount: picture.decoderByteCount)
            let rows = WebPRowReader(
                data,
                container: picture,
                width: picture.width,
                height: picture.height,
                limits: limits
            )
            return try rows.bitmap(of: file, limits: limits)
        }
    }
}

extension AnimationFrame {
    fileprivate init(_ frame: WebPContainer.Frame) {
        self.init(
            left: frame.x,
            top: frame.y,
            width: frame.width,
            height: frame.height,
            duration: frame.duration,
            disposal: frame.disposesToBackground ? .background : .keep,
            replaces: frame.replaces,
            isOpaque: !frame.hasAlpha
        )
    }
}
