import FoundationEssentials

/// An estimate of a transform's memory beside its input, and of its result.
public struct TransformMemoryNeed: Sendable, Hashable {
    /// The extent of the resulting image.
    package var output: ImageExtent
    /// The number of additional bytes that it needs until it returns: copies, rows, tables.
    package var workingByteCount: Int

    /// Creates a need. Negative numbers count as 0.
    public init(output: ImageExtent, workingByteCount: Int) {
        self.output = output
        self.workingByteCount = min(max(workingByteCount, 0), ImageExtent.most)
    }

    /// The number of bytes of both together.
    package var totalByteCount: Int { output.byteCount + workingByteCount }
}

extension ImageTransformer {
    /// Returns the default estimate: an image of the same size, and one copy.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        var output = input
        output.bytesPerPixel = max(input.bytesPerPixel, 4)
        return TransformMemoryNeed(output: output, workingByteCount: input.byteCount)
    }
}

extension ImageCoder {
    /// Returns the extent of the result of ``decode(_:options:)``, as far as the header shows it.
    ///
    /// - Parameter need: the memory need of the same decode.
    /// - Throws: what ``properties(of:limits:)`` throws.
    func extent(
        of data: Data,
        options: ImageDecodeOptions,
        need: DecodeMemoryNeed
    ) throws(WebImageError) -> ImageExtent {
        let properties = try properties(of: data, limits: options.limits)
        let isHighBitDepth =
            options.keepsHighBitDepth && properties.isHighBitDepth || options.pixelFormat == .rgbaHalfPremultiplied
        var extent = ImageExtent(
            width: properties.width,
            height: properties.height,
            bytesPerPixel: isHighBitDepth
                ? 8 : properties.hasAlpha || options.pixelFormat == .bgra8Premultiplied ? 4 : 3,
            scale: options.scaleFactor,
            limits: options.limits
        )
        var orientation = properties.orientation
        // There is no plan for formats whose limits apply to what is drawn of a document, not to its declared size.
        let plan = try? DecodePlan.make(for: properties, options: options)
        if let plan { (extent.width, extent.height, orientation) = (plan.width, plan.height, plan.orientation) }
        if orientation.swapsSides { (extent.width, extent.height) = (extent.height, extent.width) }
        // Some coders give opaque images alpha, and a document may be drawn bigger than it declares.
        if need.outputByteCount > extent.byteCount { extent.bytesPerPixel = max(extent.bytesPerPixel, 4) }
        return plan == nil || need.outputByteCount > extent.byteCount ? extent.filling(need.outputByteCount) : extent
    }
}

extension ImageExtent {
    /// Returns an extent of the same shape with about that many bytes, and not fewer.
    fileprivate func filling(_ bytes: Int) -> ImageExtent {
        var result = self
        let factor = (Double(min(bytes, Self.most)) / Double(max(byteCount, 1))).squareRoot()
        result.width = Int(min((Double(width) * factor).rounded(.up), Double(ImageLimits.longestSide)))
        result.height = Int(min((Double(height) * factor).rounded(.up), Double(ImageLimits.longestSide)))
        return result
    }
}
