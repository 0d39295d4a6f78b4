/// Fills an image with a colour; see ``Image/tinted(with:blendMode:)``.
public struct TintTransformer: ImageTransformer {
    /// The colour.
    public let tintColor: ImageColor
    /// The way in which the colour is blended with the image.
    public let blendMode: ImageBlendMode
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that fills with a colour.
    ///
    /// - Parameters:
    ///   - color: the colour.
    ///   - blendMode: how the colour is blended with the image; ``ImageBlendMode/sourceIn`` by default.
    public init(color: ImageColor, blendMode: ImageBlendMode = .sourceIn) {
        tintColor = color
        self.blendMode = blendMode
    }

    /// `SDImageTintTransformer(#aarrggbb,mode)`.
    public var transformerKey: String { "SDImageTintTransformer(\(tintColor.hexString),\(blendMode.rawValue))" }

    /// Returns the filled image.
    ///
    /// - Throws: the errors of ``Image/tinted(with:blendMode:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.tinted(with: tintColor, blendMode: blendMode))
    }

    /// Returns the memory cost: the result with alpha, one row, and copies of pixels that are not upright or have more than 8 bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard tintColor.alpha > Double(Float.ulpOfOne) else {
            return TransformMemoryNeed(output: input, workingByteCount: 0)
        }
        return TransformMemoryNeed(
            output: input.making(bytesPerPixel: 4),
            workingByteCount: input.narrowUprightByteCount + input.width * 4
        )
    }
}
