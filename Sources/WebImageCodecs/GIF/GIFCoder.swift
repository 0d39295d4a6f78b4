public import FoundationEssentials

/// Decodes and encodes GIF (87a and 89a): the first frame, or with ``animation(of:options:)`` all frames, in the size of the canvas.
///
/// As in browsers, parts of the canvas that the frame does not cover are transparent, whatever background colour the file names. An
/// incomplete first frame is an error; later frames may be missing or damaged. The properties include frame count, durations and loop count
/// (a file without a loop count plays once).
public struct GIFCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts with `GIF87a` or `GIF89a`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .gif }

    /// Reads the properties from all blocks, without reading pixels.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let structure = try data.withBytes { (bytes) throws(WebImageError) in
            try GIFStructure(bytes, frameLimit: limits.maximumFrameCount)
        }
        try limits.check(width: structure.width, height: structure.height)
        let properties = Self.properties(structure)
        try limits.check(frameCount: properties.frameCount)
        return properties
    }

    /// Decodes the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let deadline = DecodeDeadline(options.limits)
        return try data.withBytes { (bytes) throws(WebImageError) in
            let structure = try GIFStructure(bytes, frameLimit: options.limits.maximumFrameCount)
            let properties = Self.properties(structure)
            let plan = try DecodePlan.make(for: properties, options: options)
            let rows = try GIFRowReader(
                bytes,
                canvasOf: structure,
                frame: structure.frames[0],
                limits: options.limits
            )
            return try ImageAssembler.makeImage(
                from: TimedRows.limiting(rows, to: deadline),
                properties: properties,
                plan: plan,
                options: options
            )
        }
    }

    static func properties(_ structure: GIFStructure) -> ImageProperties {
        var properties = ImageProperties(format: .gif, width: structure.width, height: structure.height)
        properties.hasAlpha =
            structure.frames.first?.hasAlpha(onCanvasOf: structure.width, by: structure.height) ?? false
        // If there are more frames than were read, the count only indicates that there are too many.
        properties.frameCount = structure.frames.count + (structure.isCut ? 1 : 0)
        if properties.frameCount > 1 {
            properties.frameDurations = structure.frames.map(\.duration)
            properties.loopCount = structure.loopCount ?? 1
        }
        return properties
    }
}

extension GIFCoder: ProgressiveImageCoder {
    /// Returns whether the data starts with `GIF87a` or `GIF89a`.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// Rows appear from the top down, those of an interlaced frame at their final places. Once there are two complete frames, a preview has an
    /// ``Image/animation`` of all complete frames, unless only the first frame is requested.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalGIF(options: options), coder: self, options: options)
    }
}
