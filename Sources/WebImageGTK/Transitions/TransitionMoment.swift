import CWebImageGTK4
public import WebImage

/// A moment of a transition, to be drawn.
@MainActor
public struct TransitionMoment {
    /// Where to draw: a `GtkSnapshot`, whose origin is the top left corner of the new picture.
    public let snapshot: OpaquePointer
    /// What the new picture covers, in points of the widget.
    public let width: Double
    /// What the new picture covers, in points of the widget.
    public let height: Double
    /// How far it has come, 0...1, after ``WebImageTransition/Timing``.
    public let progress: Double
    /// Where what was shown before lies, in points from the top left corner of the new picture.
    public let oldRect: ImageRect
    /// The view, in points from the top left corner of the new picture: bigger than a picture that is shown whole beside empty bars,
    /// smaller than one that covers it.
    public let viewRect: ImageRect

    let old: PaintableContent?
    let new: PaintableContent?
    /// Of symbolic icons; nil for GTK's.
    var color: GdkRGBA?

    /// Draws what the view showed before, where it was; nothing if it showed nothing.
    public func drawOld() { draw(.old) }

    /// Draws what the view will show.
    public func drawNew() { draw(.new) }
}
