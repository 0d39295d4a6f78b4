/// Rounds the corners of an image, and draws a border; see ``Image/roundedCorner(radius:corners:borderWidth:borderColor:)``.
public struct RoundCornerTransformer: ImageTransformer {
    /// The radius of the corners in points.
    public let cornerRadius: Double
    /// The corners to round.
    public let corners: RectCorner
    /// The width of the border in points.
    public let borderWidth: Double
    /// The colour of the border; nil for none.
    public let borderColor: ImageColor?
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that rounds corners.
    ///
    /// - Parameters:
    ///   - radius: the corner radius in points.
    ///   - corners: the corners to round; all by default.
    ///   - borderWidth: in points; 0 by default.
    ///   - borderColor: the colour of the border line; nil, the default, draws none.
    public init(
        radius: Double,
        corners: RectCorner = .allCorners,
        borderWidth: Double = 0,
        borderColor: ImageColor? = nil
    ) {
        cornerRadius = radius
        self.corners = corners
        self.borderWidth = borderWidth
        self.borderColor = borderColor
    }

    /// `SDImageRoundCornerTransformer(radius,corners,borderWidth,#aarrggbb)` with six decimals; `(null)` without a colour.
    public var transformerKey: String {
        let radius = FixedDecimal.string(cornerRadius)
        let width = FixedDecimal.string(borderWidth)
        let color = borderColor?.hexString ?? "(null)"
        return "SDImageRoundCornerTransformer(\(radius),\(corners.rawValue),\(width),\(color))"
    }

    /// Returns the image with rounded corners.
    ///
    /// - Throws: the errors of ``Image/roundedCorner(radius:corners:borderWidth:borderColor:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(
            try image.roundedCorner(
                radius: cornerRadius,
                corners: corners,
                borderWidth: borderWidth,
                borderColor: borderColor
            )
        )
    }

    /// Returns the memory cost: the result with alpha, and copies of pixels that are not upright or have more than 8 bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard Image.hasCornersToRound(cornerRadius, corners, borderWidth: borderWidth) else {
            return TransformMemoryNeed(output: input.making(), workingByteCount: input.uprightByteCount)
        }
        return TransformMemoryNeed(
            output: input.making(bytesPerPixel: 4),
            workingByteCount: input.narrowUprightByteCount
        )
    }
}
