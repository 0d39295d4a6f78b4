/// Rounds the corners of an image, and draws a border; see ``Image/roundedCorner(radius:corners:borderWidth:borderColor:)``.
public struct RoundCornerTransformer: ImageTransformer {
    /// The radius of the corners in points.
    public let cornerRadius: Double
    /// Which corners are round.
    public let corners: RectCorner
    /// The width of the border in points.
    public let borderWidth: Double
    /// The colour of the border; nil for none.
    public let borderColor: ImageColor?
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer that rounds corners.
    ///
    /// - Parameters:
    ///   - radius: of the corners, in points.
    ///   - corners: which corners are round; all by default.
    ///   - borderWidth: in points; 0 by default.
    ///   - borderColor: nil, the default, for no line.
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

    /// The image with rounded corners.
    ///
    /// - Throws: what ``Image/roundedCorner(radius:corners:borderWidth:borderColor:)`` throws.
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

    /// The picture with alpha, and copies of pixels that do not lie upright or are wide.
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
