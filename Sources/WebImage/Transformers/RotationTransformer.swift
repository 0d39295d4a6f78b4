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
}
