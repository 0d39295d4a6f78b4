import Glibc

/// Turns an image counter-clockwise; see ``Image/rotated(by:fitSize:)``.
public struct RotationTransformer: ImageTransformer {
    /// The angle in radians; positive ones turn counter-clockwise.
    public let angle: Double
    /// Whether the canvas becomes as big as the turned picture needs.
    public let fitSize: Bool
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true

    /// A transformer that turns.
    ///
    /// - Parameters:
    ///   - angle: in radians; positive ones turn counter-clockwise.
    ///   - fitSize: the canvas becomes as big as the turned picture needs (true), or keeps its size and cuts corners off (false).
    public init(angle: Double, fitSize: Bool = true) {
        self.angle = angle
        self.fitSize = fitSize
    }

    /// `SDImageRotationTransformer(angle,fitSize)` with six decimals, and 0 or 1.
    public var transformerKey: String {
        "SDImageRotationTransformer(\(FixedDecimal.string(angle)),\(fitSize ? 1 : 0))"
    }

    /// The turned image.
    ///
    /// - Throws: what ``Image/rotated(by:fitSize:)`` throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.rotated(by: angle, fitSize: fitSize))
    }

    /// The canvas, and copies of pixels that do not lie upright, are wide or turned.
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
        // The turned picture, and the part of it that is seen, with alpha.
        let output = input.making(bytesPerPixel: max(input.bytesPerPixel, 4))
        return TransformMemoryNeed(
            output: output,
            workingByteCount: input.uprightByteCount + input.byteCount + output.byteCount
        )
    }
}
