import Glibc

/// Rotates an image counter-clockwise; see ``Image/rotated(by:fitSize:)``.
public struct RotationTransformer: ImageTransformer {
    /// The angle in radians; positive angles rotate counter-clockwise.
    public let angle: Double
    /// A Boolean value that indicates whether the canvas grows to hold the rotated image.
    public let fitSize: Bool
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that rotates.
    ///
    /// - Parameters:
    ///   - angle: in radians; positive angles rotate counter-clockwise.
    ///   - fitSize: the canvas grows to hold the rotated image (true), or keeps its size and cuts corners off (false).
    public init(angle: Double, fitSize: Bool = true) {
        self.angle = angle
        self.fitSize = fitSize
    }

    /// `SDImageRotationTransformer(angle,fitSize)` with six decimals, and 0 or 1.
    public var transformerKey: String {
        "SDImageRotationTransformer(\(FixedDecimal.string(angle)),\(fitSize ? 1 : 0))"
    }

    /// Returns the rotated image.
    ///
    /// - Throws: the errors of ``Image/rotated(by:fitSize:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.rotated(by: angle, fitSize: fitSize))
    }

    /// Returns the memory cost: the canvas, and copies of pixels that are not upright, have more than 8 bits or are rotated.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard angle.isFinite else { return TransformMemoryNeed(output: input.making(0, 0), workingByteCount: 0) }
        let angle = remainder(angle, 2 * .pi)
        guard let turns = Image.quarterTurns(angle, width: input.width, height: input.height) else {
            let (width, height) =
                fitSize
                ? Bitmap.canvas(input.width, input.height, turnedBy: angle) : (input.width, input.height)
            return TransformMemoryNeed(
                output: input.making(width, height, bytesPerPixel: 4),
                workingByteCount: input.narrowUprightByteCount
            )
        }
        let isTurned = turns % 2 == 1
        guard isTurned, !fitSize else {
            let output = isTurned ? input.making(input.height, input.width) : input.making()
            return TransformMemoryNeed(output: output, workingByteCount: input.uprightByteCount)
        }
        // The rotated image, and its visible part, with alpha.
        let output = input.making(bytesPerPixel: max(input.bytesPerPixel, 4))
        return TransformMemoryNeed(
            output: output,
            workingByteCount: input.uprightByteCount + input.byteCount + output.byteCount
        )
    }
}
