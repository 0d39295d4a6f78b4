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

extension TransitionMoment {
    /// One of the two images.
    enum Layer {
        case old
        case new
    }

    func content(of layer: Layer) -> PaintableContent? { layer == .old ? old : new }

    /// Returns the rectangle of an image.
    func rect(of layer: Layer) -> ImageRect {
        layer == .old ? oldRect : ImageRect(x: 0, y: 0, width: width, height: height)
    }

    func draw(_ layer: Layer) { content(of: layer)?.draw(into: snapshot, rect(of: layer), color: color) }

    /// Draws the first and the last step, which must be exactly the two images.
    ///
    /// - Returns: true if it drew one of them.
    func drawEnds() -> Bool {
        guard progress <= 0 || progress >= 1 else { return false }
        draw(progress <= 0 ? .old : .new)
        return true
    }

    /// The part of the view that the images cover; nil if there is none.
    var stage: ImageRect? {
        let rects = [Layer.old, .new].filter { content(of: $0) != nil }.map(rect(of:))
        return rects.dropFirst().reduce(rects.first) { $0?.union($1) }?.intersection(viewRect)
    }

    /// Draws clipped to a rectangle.
    func clipped(to rect: ImageRect, _ body: () -> Void) {
        guard rect.width > 0, rect.height > 0 else { return }
        var bounds = rect.graphene
        gtk_snapshot_push_clip(snapshot, &bounds)
        body()
        gtk_snapshot_pop(snapshot)
    }

    /// Draws with an offset.
    func moved(_ x: Double, _ y: Double, _ body: () -> Void) {
        var offset = graphene_point_t(x: Float(x), y: Float(y))
        gtk_snapshot_save(snapshot)
        gtk_snapshot_translate(snapshot, &offset)
        body()
        gtk_snapshot_restore(snapshot)
    }

    /// Draws scaled around the middle of the view.
    func scaled(_ x: Double, _ y: Double, _ body: () -> Void) {
        let middle = (x: viewRect.x + viewRect.width / 2, y: viewRect.y + viewRect.height / 2)
        gtk_snapshot_save(snapshot)
        var there = graphene_point_t(x: Float(middle.x), y: Float(middle.y))
        gtk_snapshot_translate(snapshot, &there)
        gtk_snapshot_scale(snapshot, Float(x), Float(y))
        var back = graphene_point_t(x: Float(-middle.x), y: Float(-middle.y))
        gtk_snapshot_translate(snapshot, &back)
        body()
        gtk_snapshot_restore(snapshot)
    }

    /// Draws a shadow as a gradient across a rectangle.
    ///
    /// - Parameter alphas: the opacity of black at equidistant stops from start to end.
    func shade(
        _ rect: ImageRect,
        from start: (x: Double, y: Double),
        to end: (x: Double, y: Double),
        _ alphas: [Double]
    ) {
        guard rect.width > 0, rect.height > 0, alphas.count > 1, alphas.contains(where: { $0 > 0 }) else { return }
        var bounds = rect.graphene
        var first = graphene_point_t(x: Float(start.x), y: Float(start.y))
        var last = graphene_point_t(x: Float(end.x), y: Float(end.y))
        let stops = alphas.enumerated().map { index, alpha in
            GskColorStop(
                offset: Float(index) / Float(alphas.count - 1),
                color: GdkRGBA(red: 0, green: 0, blue: 0, alpha: Float(alpha))
            )
        }
        gtk_snapshot_append_linear_gradient(snapshot, &bounds, &first, &last, stops, gsize(stops.count))
    }
}

extension ImageRect {
    var right: Double { x + width }
    var bottom: Double { y + height }

    /// Returns the smallest rectangle that contains both.
    func union(_ other: ImageRect) -> ImageRect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return ImageRect(
            x: left,
            y: top,
            width: max(right, other.right) - left,
            height: max(bottom, other.bottom) - top
        )
    }

    /// Returns the common part of both; nil if there is none.
    func intersection(_ other: ImageRect) -> ImageRect? {
        let (left, top) = (max(x, other.x), max(y, other.y))
        let (right, bottom) = (min(right, other.right), min(bottom, other.bottom))
        guard right > left, bottom > top else { return nil }
        return ImageRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}

/// The timing of a running transition: pure arithmetic; the caller supplies the time.
struct RunningTransition: Sendable {
    let duration: Double
    let timing: WebImageTransition.Timing
    /// The time of the first frame; nil before it.
    private(set) var start: Double?
    private(set) var progress = 0.0
    private(set) var isOver = false

    init(_ transition: WebImageTransition) {
        duration = transition.duration.isFinite ? max(transition.duration, 0) : 0
        timing = transition.timing
        isOver = duration == 0
        if isOver { progress = 1 }
    }

    /// Advances to a frame time. The first call is the start, so a late first frame does not skip part of the transition.
    mutating func update(at seconds: Double) {
        guard !isOver, seconds.isFinite else { return }
        let start = start ?? seconds
        self.start = start
        let part = (seconds - start) / duration
        progress = WebImageTransition.progress(timing, at: part)
        isOver = part >= 1
    }
}
