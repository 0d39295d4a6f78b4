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
    /// - Parameter need: of the same decode.
    /// - Throws: what ``properties(of:limits:)`` throws.
    func extent(
        of data: Data,
        options: ImageDecodeOptions,
        need: DecodeMemoryNeed
    ) throws(WebImageError) -> ImageExtent {
        let properties = try properties(of: data, limits: options.limits)
        let isWide = options.keepsWidePixels && properties.isWide || options.pixelFormat == .rgbaHalfPremultiplied
        var extent = ImageExtent(
            width: properties.width,
            height: properties.height,
            bytesPerPixel: isWide ? 8 : properties.hasAlpha || options.pixelFormat == .bgra8Premultiplied ? 4 : 3,
            scale: options.scaleFactor,
            limits: options.limits
        )
        var orientation = properties.orientation
        // There is none where limits hold for what is drawn of a document, not for the size that it names.
        let plan = try? DecodePlan.make(for: properties, options: options)
        if let plan { (extent.width, extent.height, orientation) = (plan.width, plan.height, plan.orientation) }
        if orientation.swapsSides { (extent.width, extent.height) = (extent.height, extent.width) }
        // Some coders give opaque pictures alpha, and a document may be drawn bigger than it says.
        if need.outputByteCount > extent.byteCount { extent.bytesPerPixel = max(extent.bytesPerPixel, 4) }
        return plan == nil || need.outputByteCount > extent.byteCount ? extent.filling(need.outputByteCount) : extent
    }
}

extension ImageExtent {
    /// The same shape with about so many bytes, and not with less.
    fileprivate func filling(_ bytes: Int) -> ImageExtent {
        var result = self
        let factor = (Double(min(bytes, Self.most)) / Double(max(byteCount, 1))).squareRoot()
        result.width = Int(min((Double(width) * factor).rounded(.up), Double(ImageLimits.longestSide)))
        result.height = Int(min((Double(height) * factor).rounded(.up), Double(ImageLimits.longestSide)))
        return result
    }
}
