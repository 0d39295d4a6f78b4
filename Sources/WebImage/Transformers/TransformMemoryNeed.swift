import FoundationEssentials

/// What a transform takes of memory beside the picture that it is given, and what it makes.
public struct TransformMemoryNeed: Sendable, Hashable {
    /// The picture that is made.
    public var output: ImageExtent
    /// Bytes that it needs besides until it returns: copies, rows, tables.
    public var workingByteCount: Int

    /// A need. Less than 0 bytes count as 0.
    public init(output: ImageExtent, workingByteCount: Int) {
        self.output = output
        self.workingByteCount = min(max(workingByteCount, 0), ImageExtent.most)
    }

    /// Bytes of both together.
    public var totalByteCount: Int { output.byteCount + workingByteCount }
}

extension ImageTransformer {
    /// What a transform takes that nothing more is known of: a picture of the same size, by way of a copy.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        var output = input
        output.bytesPerPixel = max(input.bytesPerPixel, 4)
        return TransformMemoryNeed(output: output, workingByteCount: input.byteCount)
    }
}

extension ImageCoder {
    /// The extent of what ``decode(_:options:)`` makes, as far as the header tells.
    ///
    /// - Throws: what ``properties(of:limits:)`` throws.
    func extent(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> ImageExtent {
        let properties = try properties(of: data, limits: options.limits)
        let plan = try DecodePlan.make(for: properties, options: options)
        let isWide = options.keepsWidePixels && properties.isWide || options.pixelFormat == .rgbaHalfPremultiplied
        let swaps = plan.orientation.swapsSides
        return ImageExtent(
            width: swaps ? plan.height : plan.width,
            height: swaps ? plan.width : plan.height,
            bytesPerPixel: isWide ? 8 : properties.hasAlpha || options.pixelFormat == .bgra8Premultiplied ? 4 : 3,
            scale: options.scaleFactor,
            limits: options.limits
        )
    }
}
