/// A non-empty rectangle of pixels.
package struct PixelArea: Sendable, Hashable {
    package var left: Int
    package var top: Int
    package var width: Int
    package var height: Int

    package init(left: Int, top: Int, width: Int, height: Int) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    package var right: Int { left + width }
    package var bottom: Int { top + height }

    /// One pixel in the corner, for frames that change nothing.
    package static let corner = PixelArea(left: 0, top: 0, width: 1, height: 1)

    /// Returns the smallest rectangle that contains both.
    package func union(_ other: PixelArea) -> PixelArea {
        let (left, top) = (min(left, other.left), min(top, other.top))
        return PixelArea(
            left: left,
            top: top,
            width: max(right, other.right) - left,
            height: max(bottom, other.bottom) - top
        )
    }
}
