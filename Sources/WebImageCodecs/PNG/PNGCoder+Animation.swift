public import FoundationEssentials

extension PNGCoder: AnimatedImageCoder {
    /// Opens an animation by reading the chunks of the file.
    ///
    /// Damage ends the animation: the frames before it are played. A file without a complete frame is a still image, an animation of one frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        let header = try Self.header(of: data, limits: options.limits)
        return try Self.composed(data, header, Self.properties(header, data), options)
    }

    /// Returns an animation of the complete frames of a file.
    ///
    /// - Parameter former: an animation of the first of these frames, whose canvas is shared.
    static func composed(
        _ data: Data,
        _ header: PNGHeader,
        _ properties: ImageProperties,
        _ options: ImageDecodeOptions,
        continuing former: ComposedAnimation? = nil
    ) throws(WebImageError) -> ComposedAnimation {
        let limits = options.limits
        let frames = header.animation.frames
        let still = AnimationFrame(
            width: header.width,
            height: header.height,
            duration: 0,
            isOpaque: !header.hasAlpha
        )
        return try ComposedAnimation(
            data,
            frames: frames.isEmpty ? [still] : frames.map { AnimationFrame($0, isOpaque: !header.hasAlpha) },
            properties: properties,
            options: options,
            decoderByteCount: frameDecoderByteCount(header),
            continuing: former
        ) { (index) throws(WebImageError) in
            let frame = frames.isEmpty || frames[index].isDefaultImage ? nil : frames[index]
            let rows = try PNGRowReader(
                data,
                header: header,
                frame: frame,
                limits: limits,
                isHighBitDepth: header.needsHighBitDepthRows
            )
            return try rows.bitmap(of: properties, limits: limits)
        }
    }
}

extension PNGCoder {
    /// Returns the memory for libpng's rows; for an interlaced image, for all rows.
    private static func frameDecoderByteCount(_ header: PNGHeader) -> Int {
        let rows = header.width * bytesOfRowPixel + header.width * 16 * 8
        guard header.isInterlaced else { return rows }
        return rows + AssemblyNeed.block(header.width * (header.needsHighBitDepthRows ? 8 : 4) * header.height)
    }
}

extension AnimationFrame {
    fileprivate init(_ frame: PNGFrame, isOpaque: Bool) {
        self.init(
            left: frame.left,
            top: frame.top,
            width: frame.width,
            height: frame.height,
            duration: frame.duration,
            disposal: frame.disposal,
            replaces: frame.replaces,
            isOpaque: isOpaque
        )
    }
}
