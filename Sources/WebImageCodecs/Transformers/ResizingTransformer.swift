/// The way in which an image fills a rectangle of another aspect ratio.
public enum ImageScaleMode: Int, Sendable, Hashable, CaseIterable {
    /// Stretched to the rectangle.
    case fill = 0
    /// As large as fits, centred, with transparent bars.
    case aspectFit = 1
    /// As small as covers the rectangle, centred; overhanging parts are cut off.
    case aspectFill = 2
}

/// Resizes an image to an exact size, smaller or larger; see ``Image/resized(to:scaleMode:)``.
public struct ResizingTransformer: ImageTransformer {
    /// The size of the result in points.
    public let size: ImageSize
    /// The way in which the image fills the size.
    public let scaleMode: ImageScaleMode
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that resizes to `size` points.
    ///
    /// - Parameters:
    ///   - size: the size of the result in points.
    ///   - scaleMode: how the image fills the size.
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

    /// Returns the resized image.
    ///
    /// - Throws: the errors of ``Image/resized(to:scaleMode:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.resized(to: size, scaleMode: scaleMode))
    }

    /// Returns the memory cost: the result, the filter's rows, and with bars the image without them.
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
