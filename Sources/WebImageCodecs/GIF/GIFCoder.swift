public import FoundationEssentials

/// Decodes and encodes GIF, 87a and 89a: the first frame, or the frames of ``animation(of:options:)``, on their canvas.
///
/// What the frame leaves uncovered is transparent, as in browsers, whatever background colour the file names. A first
/// frame that is incomplete is an error; what comes after it may be missing or damaged. The properties tell frames,
/// durations and loops (a file that says nothing plays once).
public struct GIFCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts with `GIF87a` or `GIF89a`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .gif }

    /// What the blocks say. Steps through all of them, without reading pixels.
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
        // With more frames than were read, the number says only that they are too many.
        properties.frameCount = structure.frames.count + (structure.isCut ? 1 : 0)
        if properties.frameCount > 1 {
            properties.frameDurations = structure.frames.map(\.duration)
            properties.loopCount = structure.loopCount ?? 1
        }
        return properties
    }
}
