package import WebImage

/// The way in which an image is resized to a width and a height.
package enum VariantResizingType: String, Sendable, Hashable, CaseIterable {
    /// Keeps the aspect ratio; the image lies within the size.
    case fit
    /// Keeps the aspect ratio; the image covers the size and is cropped to it.
    case fill
    /// As ``fill``, but an image that is smaller than the size is cropped to its aspect ratio instead.
    case fillDown = "fill-down"
    /// Does not keep the aspect ratio.
    case force
    /// ``fill`` if source and result have the same orientation (portrait or landscape), else ``fit``.
    case auto
    /// Keeps the aspect ratio; the image covers the size and is not cropped (thumbor's `full-fit-in`).
    case cover
}

/// A width or height of a result.
package enum VariantLength: Sendable, Hashable {
    /// Follows from the other one and the aspect ratio, or is that of the source if both are automatic.
    case automatic
    /// That of the source (thumbor's `orig`).
    case original
    /// In pixels, greater than 0.
    case pixels(Int)
}

/// A point of attraction: the part of an image that stays when the rest is cropped, or where it is placed on a larger canvas.
package struct VariantGravity: Sendable, Hashable {
    /// The place of the point. Raw values are imgproxy's names.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The centre.
        case center = "ce"
        /// The top edge.
        case north = "no"
        /// The right edge.
        case east = "ea"
        /// The bottom edge.
        case south = "so"
        /// The left edge.
        case west = "we"
        /// The top left corner.
        case northWest = "nowe"
        /// The top right corner.
        case northEast = "noea"
        /// The bottom left corner.
        case southWest = "sowe"
        /// The bottom right corner.
        case southEast = "soea"
        /// The most salient part of the image.
        case smart = "sm"
        /// The offsets are the point: 0...1 of the width and of the height.
        case focusPoint = "fp"
    }

    /// The place of the point.
    package var kind: Kind
    /// The distance from there: in pixels from 1 on (or down from -1), a part of the width below; away from the edge at which the
    /// kind is.
    package var xOffset: Double
    /// The distance from there: in pixels from 1 on (or down from -1), a part of the height below.
    package var yOffset: Double

    /// Creates a gravity; without arguments, the centre.
    ///
    /// - Parameters:
    ///   - kind: where the point is.
    ///   - xOffset: the horizontal distance from there.
    ///   - yOffset: the vertical distance from there.
    package init(_ kind: Kind = .center, xOffset: Double = 0, yOffset: Double = 0) {
        self.kind = kind
        self.xOffset = xOffset
        self.yOffset = yOffset
    }
}

/// The extension of an image to a size or an aspect ratio, with transparent pixels or the background.
package struct VariantExtension: Sendable, Hashable {
    /// Indicates whether the image is extended.
    package var isEnabled = false
    /// The place of the image.
    package var gravity = VariantGravity()
    /// The colour of the added pixels; nil for the background of the request.
    package var background: VariantBackground?

    /// Creates one that is off.
    package init() {}
}

/// The part of a source that is processed.
package struct VariantCrop: Sendable, Hashable {
    /// The width: in pixels from 1 on, a part of the source's width below; 0 for all.
    package var width = 0.0
    /// The height: in pixels from 1 on, a part of the source's height below; 0 for all.
    package var height = 0.0
    /// The place of the part; nil for the gravity of the request.
    package var gravity: VariantGravity?

    /// Creates one that keeps everything.
    package init() {}
}

/// A rectangle in pixels of the source.
package struct VariantRegion: Sendable, Hashable {
    /// The distance of the left edge from that of the image.
    package var left: Int
    /// The distance of the top edge from that of the image.
    package var top: Int
    /// The distance of the right edge from the left edge of the image.
    package var right: Int
    /// The distance of the bottom edge from the top edge of the image.
    package var bottom: Int

    /// Creates a rectangle.
    package init(left: Int, top: Int, right: Int, bottom: Int) {
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
    }
}

/// The removal of a border of one colour.
package struct VariantTrim: Sendable, Hashable {
    /// The colour of the border.
    package enum Color: Sendable, Hashable {
        /// That of the top left pixel.
        case topLeft
        /// That of the bottom right pixel.
        case bottomRight
        /// A given one; magenta also stands for transparent pixels.
        case given(ImageColor)
    }

    /// The largest distance of a colour that still counts as the border's, in levels of 8 bits; nil if nothing is trimmed.
    package var threshold: Double?
    /// The colour of the border.
    package var color = Color.topLeft
    /// Indicates whether the distance of colours counts, instead of the difference of each component without noise (thumbor).
    package var usesDistance = false
    /// Indicates whether the same width is removed at the left and at the right.
    package var equalHorizontal = false
    /// Indicates whether the same height is removed at the top and at the bottom.
    package var equalVertical = false

    /// Creates one that is off.
    package init() {}
}

/// The space around a result in pixels, before the pixels per point.
package struct VariantPadding: Sendable, Hashable {
    /// Above.
    package var top = 0
    /// To the right.
    package var right = 0
    /// Below.
    package var bottom = 0
    /// To the left.
    package var left = 0

    /// Creates no space.
    package init() {}
}
