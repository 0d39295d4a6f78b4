/// Blurs an image; see ``Image/blurred(radius:)``.
public struct BlurTransformer: ImageTransformer {
    /// The radius in points.
    public let blurRadius: Double
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer that blurs by `radius` points.
    public init(radius: Double) { blurRadius = radius }

    /// `SDImageBlurTransformer(radius)` with six decimals.
    public var transformerKey: String { "SDImageBlurTransformer(\(FixedDecimal.string(blurRadius)))" }

    /// The blurred image.
    ///
    /// - Throws: what ``Image/blurred(radius:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.blurred(radius: blurRadius))
    }
}
