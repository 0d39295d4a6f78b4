/// Crops an image to a rectangle; see ``Image/cropped(to:)``.
public struct CroppingTransformer: ImageTransformer {
    /// The rectangle in points of the upright image.
    public let rect: ImageRect
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that keeps the part within `rect`, in points of the upright image.
    public init(rect: ImageRect) { self.rect = rect }

    /// `SDImageCroppingTransformer({x,y,width,height})` with six decimals.
    public var transformerKey: String {
        let numbers = [rect.x, rect.y, rect.width, rect.height].map(FixedDecimal.string).joined(separator: ",")
        return "SDImageCroppingTransformer({\(numbers)})"
    }

    /// Returns the cropped image.
    ///
    /// - Throws: the errors of ``Image/cropped(to:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.cropped(to: rect))
    }

    /// Returns the memory cost: the cropped part, and a copy of pixels that are not upright.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        let columns = Image.touchedPixels(rect.x, rect.width, scale: input.scale, of: input.width)?.count ?? 0
        let rows = Image.touchedPixels(rect.y, rect.height, scale: input.scale, of: input.height)?.count ?? 0
        return TransformMemoryNeed(output: input.making(columns, rows), workingByteCount: input.uprightByteCount)
    }
}
