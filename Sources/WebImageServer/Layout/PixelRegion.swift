/// A width and a height in whole pixels.
package struct PixelSize: Sendable, Hashable {
    /// The width, 1 or greater.
    package var width: Int
    /// The height, 1 or greater.
    package var height: Int

    /// Creates a size.
    package init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The size with width and height exchanged.
    var swapped: PixelSize { PixelSize(height, width) }
}

/// A rectangle of whole pixels within an image.
package struct PixelRegion: Sendable, Hashable {
    /// The distance of the left edge from that of the image.
    package var x: Int
    /// The distance of the top edge from that of the image.
    package var y: Int
    /// The width and the height.
    package var size: PixelSize

    /// Creates a rectangle.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        size = PixelSize(width, height)
    }
}

/// The part of an image that stays.
package enum PixelPart: Sendable, Hashable {
    /// Everything.
    case whole
    /// A rectangle.
    case region(PixelRegion)
    /// The most salient rectangle of a size; it is found in the pixels.
    case salient(PixelSize)

    /// The size of the part of an image.
    func size(in image: PixelSize) -> PixelSize {
        switch self {
        case .whole: image
        case .region(let region): region.size
        case .salient(let size): size
        }
    }
}

/// A rotation and then a reflection of an image.
package struct VariantOrientation: Sendable, Hashable {
    /// The clockwise rotation in degrees: 0, 90, 180 or 270.
    package var rotation = 0
    /// Indicates whether left becomes right, after the rotation.
    package var flipsHorizontally = false
    /// Indicates whether top becomes bottom, after the rotation.
    package var flipsVertically = false

    /// Indicates whether nothing changes.
    package var isIdentity: Bool { self == VariantOrientation() }
    /// Indicates whether width and height are exchanged.
    package var swapsSides: Bool { rotation % 180 != 0 }

    /// Returns the size of an image after the change, or the one before it.
    func size(of image: PixelSize) -> PixelSize { swapsSides ? image.swapped : image }

    /// Returns where a region of the changed image is in the image before.
    ///
    /// - Parameters:
    ///   - region: a region of the changed image.
    ///   - image: the size of the changed image.
    func regionBefore(_ region: PixelRegion, in image: PixelSize) -> PixelRegion {
        var (x, y) = (region.x, region.y)
        let (width, height) = (region.size.width, region.size.height)
        if flipsHorizontally { x = image.width - x - width }
        if flipsVertically { y = image.height - y - height }
        return switch rotation {
        case 90: PixelRegion(x: y, y: image.width - x - width, width: height, height: width)
        case 180: PixelRegion(x: image.width - x - width, y: image.height - y - height, width: width, height: height)
        case 270: PixelRegion(x: image.height - y - height, y: x, width: height, height: width)
        default: PixelRegion(x: x, y: y, width: width, height: height)
        }
    }

    /// Returns where a point of an image is after the change. Points are parts of the width and the height, 0...1.
    func pointAfter(x: Double, y: Double) -> (x: Double, y: Double) {
        let rotated =
            switch rotation {
            case 90: (x: 1 - y, y: x)
            case 180: (x: 1 - x, y: 1 - y)
            case 270: (x: y, y: 1 - x)
            default: (x: x, y: y)
            }
        return (flipsHorizontally ? 1 - rotated.x : rotated.x, flipsVertically ? 1 - rotated.y : rotated.y)
    }
}
