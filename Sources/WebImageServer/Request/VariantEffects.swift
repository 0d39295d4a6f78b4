package import WebImage

/// The colour behind transparent pixels, padding and extensions.
package enum VariantBackground: Sendable, Hashable {
    /// One colour.
    case color(ImageColor)
    /// The mean colour of the image.
    case meanColor
    /// The image itself, blurred and stretched; for extensions only.
    case blurredImage
}

/// A change of all colours.
package enum VariantColorEffect: Sendable, Hashable {
    /// Adds a part of the full range, -1...1, to each component.
    case brightness(Double)
    /// Multiplies the distance from mid-grey by 1 + the value, -1...1.
    case contrast(Double)
    /// Multiplies the distance from grey by the value; 0 or greater.
    case saturation(Double)
    /// Keeps the luminance only.
    case grayscale
}

/// An image drawn over the result.
package struct VariantWatermark: Sendable, Hashable {
    /// Where the image is drawn.
    package enum Position: Sendable, Hashable {
        /// At an edge, a corner or the centre; not at the smart or the focus point.
        case gravity(VariantGravity.Kind)
        /// In rows and columns over the whole result; the offsets are the distances between them.
        case repeated
        /// From the top left corner, in pixels or parts; negative offsets are from the right and the bottom edge.
        case topLeft
    }

    /// The opacity, 0...1; 0 if nothing is drawn.
    package var opacity = 0.0
    /// Where it is drawn.
    package var position = Position.gravity(.center)
    /// The horizontal offset: in pixels from 1 on or down from -1, a part of the result's width between.
    package var xOffset = 0.0
    /// The vertical offset: in pixels from 1 on or down from -1, a part of the result's height between.
    package var yOffset = 0.0
    /// The size relative to the result, greater than 0; 0 for the watermark's own.
    package var scale = 0.0
    /// The URL of the image; nil for the server's.
    package var source: String?

    /// Creates one that is off.
    package init() {}
}

/// Limits of a request, each nil for the server's.
package struct VariantLimits: Sendable, Hashable {
    /// The pixels of the source.
    package var sourcePixels: Int?
    /// The bytes of the source; 0 for no limit.
    package var sourceBytes: Int?
    /// The frames of an animation that are processed, 1 or more.
    package var animationFrames: Int?
    /// The pixels of one frame of an animation; 0 for no limit.
    package var animationFramePixels: Int?
    /// The largest side of the result; 0 for no limit.
    package var resultSide: Int?

    /// Creates no limits.
    package init() {}
}
