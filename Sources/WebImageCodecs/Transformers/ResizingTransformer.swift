/// How a picture fills a rectangle of another shape.
public enum ImageScaleMode: Int, Sendable, Hashable, CaseIterable {
    /// Stretched to the rectangle.
    case fill = 0
    /// As big as fits, centred, with transparent bars.
    case aspectFit = 1
    /// As small as covers, centred, what hangs over is cut off.
    case aspectFill = 2
}

/// Makes an image exactly the size that is asked for, smaller or bigger; see ``Image/resized(to:scaleMode:)``.
public struct ResizingTransformer: ImageTransformer {
    /// The size of the result in points.
    public let size: ImageSize
    /// How the picture fills it.
    public let scaleMode: ImageScaleMode
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer to `size` points.
    ///
    /// - Parameters:
    ///   - size: the size of the result in points.
    ///   - scaleMode: how the picture fills it.
    public init(size: ImageSize, scaleMode: ImageScaleMode) {
        self.size = size
        self.scaleMode = scaleMode
    }

    /// `SDImageResizingTransformer({width,height},mode)` with six decimals.
    public var transformerKey: String {
        let width = FixedDecimal.string(size.width)
        let height = FixedDecimal.string(size.height)
        return "SDImageResizingTransformer({\(width),\(height)},\(scaleMode.rawValue))"
    }

    /// The resized image.
    ///
    /// - Throws: what ``Image/resized(to:scaleMode:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.resized(to: size, scaleMode: scaleMode))
    }

    /// The picture of that size, rows that are filtered, and with bars the picture without them.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard var output = try? input.resized(to: size, scaleMode: scaleMode) else {
            return TransformMemoryNeed(output: input.making(0, 0), workingByteCount: 0)
        }
        let (seen, drawn) = input.resampling(to: output, scaleMode: scaleMode)
        var working = input.uprightByteCount
        working += AssemblyNeed.resampling(seen, to: drawn, bytesPerPixel: input.bytesPerPixel)
        if scaleMode == .aspectFit {
            output.bytesPerPixel = max(input.bytesPerPixel, 4)
            let inner = output.making(drawn.width, drawn.height)
            working += 2 * inner.byteCount
        }
        return TransformMemoryNeed(output: output, workingByteCount: working)
    }
}
