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

extension Image {
    /// Returns the part of the image within a rectangle, in new memory.
    ///
    /// - Parameter rect: the rectangle in points of the upright image, from its top left corner. Partly covered pixels are included, and the part of
    ///   the rectangle outside the image is ignored.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a rectangle that is empty, not finite, or wholly outside the image,
    ///   ``WebImageError/Code/outOfMemory``.
    public func cropped(to rect: ImageRect) throws(WebImageError) -> Image {
        guard rect.isUsable else {
            throw .untransformable(
                "invalid crop rectangle \(rect.width)x\(rect.height) at \(rect.x),\(rect.y)"
            )
        }
        let upright = try uprightBitmap()
        guard let columns = Self.touchedPixels(rect.x, rect.width, scale: scale, of: upright.width),
            let rows = Self.touchedPixels(rect.y, rect.height, scale: scale, of: upright.height)
        else {
            throw .untransformable(
                "crop rectangle \(rect.width)x\(rect.height) at \(rect.x),\(rect.y) is outside the image of "
                    + "\(size.width)x\(size.height)"
            )
        }
        let part = upright.part(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
        return replacing(try part.copy())
    }

    /// Returns the pixels that a range of points touches; nil if none. Overlaps of a millionth of a pixel, the rounding error of products, do not
    /// count.
    static func touchedPixels(_ start: Double, _ length: Double, scale: Double, of count: Int) -> Range<Int>? {
        let first = max((start * scale + 1e-6).rounded(.down), 0)
        let last = min(((start + length) * scale - 1e-6).rounded(.up), Double(count))
        return first < last ? Int(first)..<Int(last) : nil
    }
}
