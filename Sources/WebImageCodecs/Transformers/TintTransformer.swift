/// Fills an image with a colour; see ``Image/tinted(with:blendMode:)``.
public struct TintTransformer: ImageTransformer {
    /// The colour.
    public let tintColor: ImageColor
    /// What the fill does.
    public let blendMode: ImageBlendMode
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer that fills.
    ///
    /// - Parameters:
    ///   - color: the colour.
    ///   - blendMode: what the fill does; ``ImageBlendMode/sourceIn`` by default.
    public init(color: ImageColor, blendMode: ImageBlendMode = .sourceIn) {
        tintColor = color
        self.blendMode = blendMode
    }

    /// `SDImageTintTransformer(#aarrggbb,mode)`.
    public var transformerKey: String { "SDImageTintTransformer(\(tintColor.hexString),\(blendMode.rawValue))" }

    /// The filled image.
    ///
    /// - Throws: what ``Image/tinted(with:blendMode:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.tinted(with: tintColor, blendMode: blendMode))
    }

    /// The picture with alpha, a row, and copies of pixels that do not lie upright or are wide.
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
