/// Cuts a rectangle out of an image; see ``Image/cropped(to:)``.
public struct CroppingTransformer: ImageTransformer {
    /// The rectangle in points of the upright picture.
    public let rect: ImageRect
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer that leaves what lies in `rect`, in points of the upright picture.
    public init(rect: ImageRect) { self.rect = rect }

    /// `SDImageCroppingTransformer({x,y,width,height})` with six decimals.
    public var transformerKey: String {
        let numbers = [rect.x, rect.y, rect.width, rect.height].map(FixedDecimal.string).joined(separator: ",")
        return "SDImageCroppingTransformer({\(numbers)})"
    }

    /// The part of the image.
    ///
    /// - Throws: what ``Image/cropped(to:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.cropped(to: rect))
    }

    /// The part, and a copy of pixels that do not lie upright.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        let columns = Image.touchedPixels(rect.x, rect.width, scale: input.scale, of: input.width)?.count ?? 0
        let rows = Image.touchedPixels(rect.y, rect.height, scale: input.scale, of: input.height)?.count ?? 0
        return TransformMemoryNeed(output: input.making(columns, rows), workingByteCount: input.uprightByteCount)
    }
}
