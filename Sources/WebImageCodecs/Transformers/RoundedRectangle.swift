import Glibc

/// A rectangle with circular corners, in pixels. It computes the exact coverage of a pixel, without sampling.
struct RoundedRectangle {
    let left: Double
    let top: Double
    let right: Double
    let bottom: Double
    /// The radius of all round corners; the others are square.
    let radius: Double
    let corners: RectCorner

    /// Creates a rectangle `inset` from the sides of an image. A radius above half the shorter side is clamped to that. The rectangle must not be
    /// empty.
    init(width: Int, height: Int, inset: Double, radius: Double, corners: RectCorner) {
        left = inset
        top = inset
        right = Double(width) - inset
        bottom = Double(height) - inset
        self.radius = max(min(radius, (right - left) / 2, (bottom - top) / 2), 0)
        self.corners = self.radius > 0 ? corners : []
    }

    /// Returns whether the rectangle is not empty.
    static func exists(width: Int, height: Int, inset: Double) -> Bool { inset * 2 < Double(min(width, height)) }

    /// Returns the columns of a row whose pixels are touched, and those that are fully covered. The second range lies within the first.
    func columns(ofRow row: Int) -> (touched: Range<Int>, covered: Range<Int>) {
        let (above, below) = (max(Double(row), top), min(Double(row) + 1, bottom))
        guard above < below else { return (0..<0, 0..<0) }
        let (upper, lower) = (edges(at: above), edges(at: below))
        // Between two heights in different corners there is a straight part of the side.
        let middle = edges(at: min(max((top + bottom) / 2, above), below))
        let first = Int(min(upper.left, lower.left, middle.left).rounded(.down))
        let last = Int(max(upper.right, lower.right, middle.right).rounded(.up))
        guard above == Double(row), below == Double(row) + 1 else { return (first..<last, first..<first) }
        let start = Int(max(upper.left, lower.left).rounded(.up))
        let end = Int(min(upper.right, lower.right).rounded(.down))
        return (first..<last, start < end ? start..<end : first..<first)
    }

    /// Returns the positions of the sides at a height within the rectangle.
    private func edges(at y: Double) -> (left: Double, right: Double) {
        let fromTop = top + radius - y
        let fromBottom = y - (bottom - radius)
        return (
            left + indent(fromTop, .topLeft, fromBottom, .bottomLeft),
            right - indent(fromTop, .topRight, fromBottom, .bottomRight)
        )
    }

    private func indent(_ up: Double, _ upper: RectCorner, _ down: Double, _ lower: RectCorner) -> Double {
        let depth = up > 0 && corners.contains(upper) ? up : down > 0 && corners.contains(lower) ? down : 0
        return depth > 0 ? radius - max(radius * radius - depth * depth, 0).squareRoot() : 0
    }

    /// Returns the fraction of a pixel that lies within, 0...1.
    func coverage(column: Int, row: Int) -> Double {
        let (x0, x1) = (max(Double(column), left), min(Double(column) + 1, right))
        let (y0, y1) = (max(Double(row), top), min(Double(row) + 1, bottom))
        guard x0 < x1, y0 < y1 else { return 0 }
        var area = (x1 - x0) * (y1 - y0)
        // Distances from the centre of each corner's circle, outwards.
        let (west, east) = (left + radius, right - radius)
        let (north, south) = (top + radius, bottom - radius)
        if corners.contains(.topLeft) { area -= outside(west - x1, west - x0, north - y1, north - y0) }
        if corners.contains(.topRight) { area -= outside(x0 - east, x1 - east, north - y1, north - y0) }
        if corners.contains(.bottomLeft) { area -= outside(west - x1, west - x0, y0 - south, y1 - south) }
        if corners.contains(.bottomRight) { area -= outside(x0 - east, x1 - east, y0 - south, y1 - south) }
        return min(max(area, 0), 1)
    }

    /// Returns the area of a box in the quadrant of positive coordinates that is outside of the circle around the origin.
    private func outside(_ x0: Double, _ x1: Double, _ y0: Double, _ y1: Double) -> Double {
        let (x0, y0) = (max(x0, 0), max(y0, 0))
        guard x0 < x1, y0 < y1 else { return 0 }
        let squared = radius * radius
        let box = (x1 - x0) * (y1 - y0)
        if x1 * x1 + y1 * y1 <= squared { return 0 }
        if x0 * x0 + y0 * y0 >= squared { return box }
        // Up to `full` the circle is above the box, from `empty` on below it; in between it passes through.
        let full = min(max(max(squared - y1 * y1, 0).squareRoot(), x0), x1)
        let empty = min(max((squared - y0 * y0).squareRoot(), full), x1)
        let inside = (full - x0) * (y1 - y0) + (integral(empty) - integral(full)) - (empty - full) * y0
        return box - inside
    }

    /// Returns the integral of the circle's height from 0 to x.
    private func integral(_ x: Double) -> Double {
        let height = max(radius * radius - x * x, 0).squareRoot()
        return 0.5 * (x * height + radius * radius * atan2(x, height))
    }
}
