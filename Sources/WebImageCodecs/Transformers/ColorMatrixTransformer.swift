/// Sends the colours of an image through a matrix; see ``ColorMatrix`` for what there is and ``Image/applying(_:)``.
public struct ColorMatrixTransformer: ImageTransformer {
    /// The matrix.
    public let matrix: ColorMatrix
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer with a matrix.
    public init(matrix: ColorMatrix) { self.matrix = matrix }

    /// `ColorMatrixTransformer(…)` with the twenty numbers of the matrix, row by row, in full precision.
    public var transformerKey: String {
        let numbers = matrix.rows.flatMap(\.values).map { "\($0)" }.joined(separator: ",")
        return "ColorMatrixTransformer(\(numbers))"
    }

    /// The image in other colours.
    ///
    /// - Throws: what ``Image/applying(_:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image { handingOut(try image.applying(matrix)) }

    /// The picture with alpha, and copies of pixels that do not lie upright or are wide.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        TransformMemoryNeed(output: input.making(bytesPerPixel: 4), workingByteCount: input.narrowUprightByteCount)
    }
}
