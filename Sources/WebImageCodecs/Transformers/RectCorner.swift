/// Corners of an image.
public struct RectCorner: OptionSet, Sendable, Hashable {
    /// The bits of the corners.
    public let rawValue: UInt
    /// Creates a set of corners from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The top left corner.
    public static let topLeft = RectCorner(rawValue: 1 << 0)
    /// The top right corner.
    public static let topRight = RectCorner(rawValue: 1 << 1)
    /// The bottom left corner.
    public static let bottomLeft = RectCorner(rawValue: 1 << 2)
    /// The bottom right corner.
    public static let bottomRight = RectCorner(rawValue: 1 << 3)
    /// All corners. Every bit is set, as in SDWebImage.
    public static let allCorners = RectCorner(rawValue: .max)
}
