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
    /// Multiplies the distance from mid-grey by a factor, 0 or greater.
    case contrast(Double)
    /// Multiplies the distance from grey by a factor.
    case saturation(Double)
    /// Keeps the luminance only.
    case grayscale
}

/// An image drawn over the result.
package struct VariantWatermark: Sendable, Hashable {
    /// The place of the image.
    package enum Position: Sendable, Hashable {
        /// At an edge, a corner or the centre; not at the smart or the focus point. With the offsets.
        case gravity(VariantGravity.Kind)
        /// In rows and columns over the whole result; the offsets are the distances between them.
        case repeated
        /// On each axis by itself (thumbor); without the offsets.
        case axes(x: Placement, y: Placement)
    }

    /// A place on one axis.
    package enum Placement: Sendable, Hashable {
        /// A distance in pixels, 0 or greater: of the left or top edges, or from the end, of the right or bottom ones.
        case pixels(Int, fromEnd: Bool)
        /// The same as a part of the result's side.
        case part(Double, fromEnd: Bool)
        /// In the middle.
        case center
        /// Side by side over the whole result.
        case repeated
    }

    /// The opacity, 0...1; 0 if nothing is drawn.
    package var opacity = 0.0
    /// The place of the image.
    package var position = Position.gravity(.center)
    /// The horizontal offset: in pixels from 1 on or down from -1, a part of the result's width between.
    package var xOffset = 0.0
    /// The vertical offset: in pixels from 1 on or down from -1, a part of the result's height between.
    package var yOffset = 0.0
    /// The part of the result's width in which the watermark is fitted; 0 for no limit. It keeps its size if both are 0.
    package var widthScale = 0.0
    /// The part of the result's height in which the watermark is fitted; 0 for no limit.
    package var heightScale = 0.0
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
