import CWebImageGTK4
import WebImage

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
