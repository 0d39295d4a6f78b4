/// A point in an image, measured from its top left corner.
public struct ImagePoint: Sendable, Hashable {
    /// The distance from the left edge.
    public var x: Double
    /// The distance from the top edge.
    public var y: Double

    /// Creates a point.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Creates the point of a pixel.
    public init(x: Int, y: Int) { self.init(x: Double(x), y: Double(y)) }
}

/// A rectangle in an image, measured from its top left corner. In points or pixels, as the API that takes it documents.
public struct ImageRect: Sendable, Hashable {
    /// The distance of its left edge from that of the image.
    public var x: Double
    /// The distance of its top edge from that of the image.
    public var y: Double
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Creates a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates a rectangle of whole pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: Double(x), y: Double(y), width: Double(width), height: Double(height))
    }

    /// Indicates whether all four numbers are finite and both sides greater than zero.
    package var isUsable: Bool {
        x.isFinite && y.isFinite && width.isFinite && height.isFinite && width > 0 && height > 0
    }
}
