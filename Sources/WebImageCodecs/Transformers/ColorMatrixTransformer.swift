/// Applies a ``ColorMatrix`` to the colours of an image; see ``Image/applying(_:)``.
public struct ColorMatrixTransformer: ImageTransformer {
    /// The matrix.
    public let matrix: ColorMatrix
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer with a matrix.
    public init(matrix: ColorMatrix) { self.matrix = matrix }

    /// `ColorMatrixTransformer(…)` with the twenty numbers of the matrix, row by row, in full precision.
    public var transformerKey: String {
        let numbers = matrix.rows.flatMap(\.values).map { "\($0)" }.joined(separator: ",")
        return "ColorMatrixTransformer(\(numbers))"
    }

    /// Returns the image with transformed colours.
    ///
    /// - Throws: the errors of ``Image/applying(_:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image { handingOut(try image.applying(matrix)) }

    /// Returns the memory cost: the result with alpha, and copies of pixels that are not upright or have more than 8 bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        TransformMemoryNeed(output: input.making(bytesPerPixel: 4), workingByteCount: input.narrowUprightByteCount)
    }
}
