public import FoundationEssentials

extension WebPCoder: AnimatedImageCoder {
    /// Opens an animation by reading the headers of its frames. As in browsers, the file's background colour is ignored: uncovered parts of the
    /// canvas are transparent.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        let container = try Self.container(of: data, limits: options.limits, wantsFrames: true)
        return try Self.composed(data, container, container.frames, Self.properties(container, options.limits), options)
    }

    /// Returns an animation of the given frames of a file.
    ///
    /// - Parameter former: an animation of the first of these frames, whose canvas is shared.
    static func composed(
        _ data: Data,
        _ container: WebPContainer,
        _ frames: [WebPContainer.Frame],
        _ file: ImageProperties,
        _ options: ImageDecodeOptions,
        continuing former: ComposedAnimation? = nil
    ) throws(WebImageError) -> ComposedAnimation {
        let limits = options.limits
        return try ComposedAnimation(
            data,
            frames: frames.map(AnimationFrame.init),
            properties: file,
            options: options,
            decoderByteCount: frames.reduce(0) { max($0, Self.memory(of: $1)) },
            continuing: former
        ) { (index) throws(WebImageError) in
            let still = container.alone(frames[index])
            try limits.check(decodedByteCount: still.decoderByteCount)
            let rows = WebPRowReader(
                data,
                container: still,
                width: still.width,
                height: still.height,
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
