/// Blurs an image; see ``Image/blurred(radius:)``.
public struct BlurTransformer: ImageTransformer {
    /// The radius in points.
    public let blurRadius: Double
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that blurs by `radius` points.
    public init(radius: Double) { blurRadius = radius }

    /// `SDImageBlurTransformer(radius)` with six decimals.
    public var transformerKey: String { "SDImageBlurTransformer(\(FixedDecimal.string(blurRadius)))" }

    /// Returns the blurred image.
    ///
    /// - Throws: the errors of ``Image/blurred(radius:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.blurred(radius: blurRadius))
    }

    /// Returns the memory cost: the result, the rows that the blur reaches, and copies of pixels that are not upright or have more than 8
    /// bits.
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
