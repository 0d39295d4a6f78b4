import CWebImageGTK4
public import WebImage

/// A step of a transition, to be drawn.
@MainActor
public struct TransitionMoment {
    /// The `GtkSnapshot` to draw into. Its origin is the top left corner of the new image.
    public let snapshot: OpaquePointer
    /// The width of the new image, in points of the widget.
    public let width: Double
    /// The height of the new image, in points of the widget.
    public let height: Double
    /// The progress, 0...1, after ``WebImageTransition/Timing`` was applied.
    public let progress: Double
    /// The rectangle of the previous content, in points relative to the top left corner of the new image.
    public let oldRect: ImageRect
    /// The view's rectangle, in points relative to the top left corner of the new image: bigger than an image shown with bars beside it,
    /// smaller than an image that covers the view.
    public let viewRect: ImageRect

    let old: PaintableContent?
    let new: PaintableContent?
    /// The colour of symbolic icons; nil for GTK's.
    var color: GdkRGBA?

    /// Draws the previous content where it was; draws nothing if there was none.
    public func drawOld() { draw(.old) }

    /// Draws the new content.
    public func drawNew() { draw(.new) }
}
