public import FoundationEssentials

extension GIFCoder: AnimatedImageCoder {
    /// Opens an animation by reading the blocks of the file.
    ///
    /// Disposal 2 makes the frame's rectangle transparent, whatever background colour the file names, and disposal 3 restores the pixels that the
    /// frame has covered. With other values the frame stays.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        let limit = options.decodeFirstFrameOnly ? 1 : options.limits.maximumFrameCount
        let structure = try data.withBytes { (bytes) throws(WebImageError) in
            try GIFStructure(bytes, frameLimit: limit)
        }
        return try Self.animation(
            of: data,
            frames: structure.frames,
            properties: Self.properties(structure),
            options: options
        )
    }

    /// Returns an animation of the given frames of a file.
    ///
    /// - Parameter former: an animation of the first of these frames, whose canvas is shared.
    static func animation(
        of data: Data,
        frames: [GIFFrame],
        properties file: ImageProperties,
        options: ImageDecodeOptions,
        continuing former: ComposedAnimation? = nil
    ) throws(WebImageError) -> ComposedAnimation {
        let limits = options.limits
        return try ComposedAnimation(
            data,
            frames: frames.map(AnimationFrame.init),
            properties: file,
            options: options,
            decoderByteCount: frames.reduce(0) { max($0, AssemblyNeed.block($1.width * $1.height)) },
            continuing: former
        ) { (index) throws(WebImageError) in
            try data.withBytes { (bytes) throws(WebImageError) in
                let rows = try GIFRowReader(bytes, frame: frames[index], limits: limits)
                return try rows.bitmap(of: file, limits: limits)
            }
        }
    }
}

extension AnimationFrame {
    fileprivate init(_ frame: GIFFrame) {
        self.init(
            left: frame.left,
            top: frame.top,
            width: frame.width,
            height: frame.height,
            duration: frame.duration,
            disposal: frame.disposal == 2 ? .background : frame.disposal == 3 ? .previous : .keep,
            isOpaque: frame.transparentIndex == nil
        )
    }
}
