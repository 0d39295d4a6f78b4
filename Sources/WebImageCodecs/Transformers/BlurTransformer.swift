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

    /// The picture, as many rows as the blur reaches, and copies of pixels that do not lie upright or are wide.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard blurRadius.isFinite, blurRadius > Double(Float.ulpOfOne) else {
            return TransformMemoryNeed(output: input, workingByteCount: 0)
        }
        let output = input.making(bytesPerPixel: input.narrowBytesPerPixel)
        guard output.byteCount > 0 else { return TransformMemoryNeed(output: output, workingByteCount: 0) }
        let rows = Bitmap.boxScratch(
            output.width,
            output.height,
            bytesPerPixel: output.bytesPerPixel,
            reach: Image.boxReach(blurRadius * input.scale)
        )
        return TransformMemoryNeed(output: output, workingByteCount: input.narrowUprightByteCount + rows)
    }
}
