/// A place in a picture, measured from its top left corner.
public struct ImagePoint: Sendable, Hashable {
    /// How far from the left edge.
    public var x: Double
    /// How far from the top edge.
    public var y: Double

    /// A place.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The place of a pixel.
    public init(x: Int, y: Int) { self.init(x: Double(x), y: Double(y)) }
}

/// A rectangle in a picture, measured from its top left corner. Whether in points or pixels is said by who takes it.
public struct ImageRect: Sendable, Hashable {
    /// How far its left edge is from that of the picture.
    public var x: Double
    /// How far its top edge is from that of the picture.
    public var y: Double
    /// Its width.
    public var width: Double
    /// Its height.
    public var height: Double

    /// A rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// A rectangle of whole pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: Double(x), y: Double(y), width: Double(width), height: Double(height))
    }

    /// Whether all four numbers are finite and both sides greater than zero.
    public var isUsable: Bool {
        x.isFinite && y.isFinite && width.isFinite && height.isFinite && width > 0 && height > 0
    }
}
