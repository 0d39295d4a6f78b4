import CWebImageGTK4
import WebImage

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

    /// Where what was shown before lies.
    let oldRect: ImageRect
    let old: PaintableContent?
    let new: PaintableContent?

    /// Draws what the view showed before, where it was; nothing if it showed nothing.
    public func drawOld() { old?.draw(into: snapshot, oldRect) }

    /// Draws what the view will show.
    public func drawNew() { new?.draw(into: snapshot, ImageRect(x: 0, y: 0, width: width, height: height)) }
}
