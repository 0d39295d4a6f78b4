/// A width and a height in pixels.
///
/// The sides are floating-point numbers because cache keys print them with six decimals, as SDWebImage does. A side that
/// is not finite or not positive means "no size".
public struct ImageSize: Sendable, Hashable {
    /// The width in pixels.
    public var width: Double
    /// The height in pixels.
    public var height: Double

    /// Creates a size.
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// Creates a size of whole pixels.
    public init(width: Int, height: Int) { self.init(width: Double(width), height: Double(height)) }

    /// Indicates whether both sides are finite and greater than zero.
    public var isUsable: Bool { width.isFinite && height.isFinite && width > 0 && height > 0 }
}
