import CWebImageGTK4
import Glibc
import WebImage

/// A side of a view.
enum TransitionSide: CaseIterable, Sendable {
    case left
    case right
    case top
    case bottom

    var isHorizontal: Bool { self == .left || self == .right }

    /// The unit vector from the middle to this side.
    var direction: (x: Double, y: Double) {
        switch self {
        case .left: (-1, 0)
        case .right: (1, 0)
        case .top: (0, -1)
        case .bottom: (0, 1)
        }
    }
}

extension WebImageTransition {
    /// The new image fades in over the old one, in 0.5 seconds.
    public static var fade: WebImageTransition { .fade() }

    /// The new image fades in over the old one.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func fade(duration: Double = 0.5) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if moment.drawEnds() { return }
            gtk_snapshot_push_cross_fade(moment.snapshot, moment.progress)
            moment.drawOld()
            gtk_snapshot_pop(moment.snapshot)
            moment.drawNew()
            gtk_snapshot_pop(moment.snapshot)
        }
    }
}

extension WebImageTransition {
    /// The new image slides in from the left and pushes the old one out, in 0.5 seconds.
    public static var slideFromLeft: WebImageTransition { .slideFromLeft() }
    /// The new image slides in from the right and pushes the old one out, in 0.5 seconds.
    public static var slideFromRight: WebImageTransition { .slideFromRight() }
    /// The new image slides in from the top and pushes the old one out, in 0.5 seconds.
    public static var slideFromTop: WebImageTransition { .slideFromTop() }
    /// The new image slides in from the bottom and pushes the old one out, in 0.5 seconds.
    public static var slideFromBottom: WebImageTransition { .slideFromBottom() }

    /// The new image slides in from the left and pushes the old one out.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func slideFromLeft(duration: Double = 0.5) -> WebImageTransition { slide(from: .left, duration) }

    /// The new image slides in from the right and pushes the old one out.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func slideFromRight(duration: Double = 0.5) -> WebImageTransition { slide(from: .right, duration) }

    /// The new image slides in from the top and pushes the old one out.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func slideFromTop(duration: Double = 0.5) -> WebImageTransition { slide(from: .top, duration) }

    /// The new image slides in from the bottom and pushes the old one out.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func slideFromBottom(duration: Double = 0.5) -> WebImageTransition { slide(from: .bottom, duration) }

    private static func slide(from side: TransitionSide, _ duration: Double) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if moment.drawEnds() { return }
            // Both move by the length of the view, so hidden parts beside the images never become visible.
            let way = (x: side.direction.x * moment.viewRect.width, y: side.direction.y * moment.viewRect.height)
            let (gone, left) = (moment.progress, 1 - moment.progress)
            moment.clipped(to: moment.viewRect) {
                moment.moved(-way.x * gone, -way.y * gone) { moment.drawOld() }
                moment.moved(way.x * left, way.y * left) { moment.drawNew() }
            }
        }
    }
}

extension WebImageTransition {
    /// The image turns around its vertical axis, the left side towards the viewer, with the new image on its back, in 0.5 seconds.
    public static var flipFromLeft: WebImageTransition { .flipFromLeft() }
    /// The image turns around its vertical axis, the right side towards the viewer, with the new image on its back, in 0.5 seconds.
    public static var flipFromRight: WebImageTransition { .flipFromRight() }
    /// The image turns around its horizontal axis, the top towards the viewer, with the new image on its back, in 0.5 seconds.
    public static var flipFromTop: WebImageTransition { .flipFromTop() }
    /// The image turns around its horizontal axis, the bottom towards the viewer, with the new image on its back, in 0.5 seconds.
    public static var flipFromBottom: WebImageTransition { .flipFromBottom() }

    /// The image turns around its vertical axis, the left side towards the viewer, with the new image on its back.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func flipFromLeft(duration: Double = 0.5) -> WebImageTransition { flip(from: .left, duration) }

    /// The image turns around its vertical axis, the right side towards the viewer, with the new image on its back.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func flipFromRight(duration: Double = 0.5) -> WebImageTransition { flip(from: .right, duration) }

    /// The image turns around its horizontal axis, the top towards the viewer, with the new image on its back.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func flipFromTop(duration: Double = 0.5) -> WebImageTransition { flip(from: .top, duration) }

    /// The image turns around its horizontal axis, the bottom towards the viewer, with the new image on its back.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func flipFromBottom(duration: Double = 0.5) -> WebImageTransition { flip(from: .bottom, duration) }

    // An orthographic projection: GTK's software renderer has no perspective. The four variants differ by the shadow on the half that turns
    // away. Images that may be transparent have no shadow: it would fill their transparent parts.
    private static func flip(from side: TransitionSide, _ duration: Double) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if moment.drawEnds() { return }
            let angle = moment.progress * Double.pi
            let layer: TransitionMoment.Layer = moment.progress < 0.5 ? .old : .new
            let part = abs(cos(angle))
            guard part > 1e-3 else { return }
            moment.scaled(side.isHorizontal ? part : 1, side.isHorizontal ? 1 : part) {
                moment.draw(layer)
                guard moment.content(of: layer)?.isOpaque == true else { return }
                let rect = moment.rect(of: layer)
                let middle = (x: rect.x + rect.width / 2, y: rect.y + rect.height / 2)
                // The old image's far half is opposite the side; the far half of the new image, which is on the back, is at the side.
                let sign: Double = layer == .old ? -1 : 1
                let far = (
                    x: middle.x + sign * side.direction.x * rect.width / 2,
                    y: middle.y + sign * side.direction.y * rect.height / 2
                )
                moment.shade(rect, from: middle, to: far, [0, 0.6 * sin(angle)])
            }
        }
    }
}

extension WebImageTransition {
    /// The old image rolls up from the bottom like a page and uncovers the new one, in 0.5 seconds.
    public static var curlUp: WebImageTransition { .curlUp() }
    /// The new image rolls out from the top like a page, over the old one, in 0.5 seconds.
    public static var curlDown: WebImageTransition { .curlDown() }

    /// The old image rolls up from the bottom like a page and uncovers the new one.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func curlUp(duration: Double = 0.5) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if !moment.drawEnds() { moment.drawCurl(of: .old, over: .new, lifted: moment.progress) }
        }
    }

    /// The new image rolls out from the top like a page, over the old one.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func curlDown(duration: Double = 0.5) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if !moment.drawEnds() { moment.drawCurl(of: .new, over: .old, lifted: 1 - moment.progress) }
        }
    }
}

extension TransitionMoment {
    /// The height of the roll, relative to the images.
    private static let rollPart = 0.2

    /// Draws a page that is flat above a line and rolled up from there.
    ///
    /// - Parameter lifted: the rolled-up part, 0...1.
    fileprivate func drawCurl(of page: Layer, over ground: Layer, lifted: Double) {
        guard let stage else { return }
        let line = stage.bottom - lifted * stage.height
        let all = stage.union(viewRect).union(rect(of: .old)).union(rect(of: .new))
        clipped(to: ImageRect(x: all.x, y: line, width: all.width, height: all.bottom - line)) { draw(ground) }
        clipped(to: ImageRect(x: all.x, y: all.y, width: all.width, height: line - all.y)) { draw(page) }
        guard content(of: page) != nil else { return }
        let roll = min(stage.bottom - line, stage.height * Self.rollPart)
        drawRoll(of: page, above: line, roll)
        drawShadow(on: ground, of: page, below: line, roll * min(4 * (1 - lifted), 1))
    }

    /// Draws the back of the page: its content, mirrored and paler.
    private func drawRoll(of page: Layer, above line: Double, _ roll: Double) {
        let rect = rect(of: page)
        let mirrored = ImageRect(x: rect.x, y: 2 * line - rect.bottom, width: rect.width, height: rect.height)
        let strip = ImageRect(x: rect.x, y: line - roll, width: rect.width, height: roll)
        guard let visible = mirrored.intersection(strip) else { return }
        clipped(to: visible) {
            var half = graphene_matrix_t()
            graphene_matrix_init_scale(&half, 0.5, 0.5, 0.5)
            var rest = graphene_vec4_t()
            graphene_vec4_init(&rest, 0.5, 0.5, 0.5, 0)
            gtk_snapshot_push_color_matrix(snapshot, &half, &rest)
            gtk_snapshot_save(snapshot)
            var offset = graphene_point_t(x: 0, y: Float(2 * line))
            gtk_snapshot_translate(snapshot, &offset)
            gtk_snapshot_scale(snapshot, 1, -1)
            draw(page)
            gtk_snapshot_restore(snapshot)
            gtk_snapshot_pop(snapshot)
        }
        guard content(of: page)?.isOpaque == true else { return }
        shade(visible, from: (0, line - roll), to: (0, line), [0.35, 0, 0, 0.35])
    }

    private func drawShadow(on ground: Layer, of page: Layer, below line: Double, _ height: Double) {
        guard content(of: ground)?.isOpaque == true else { return }
        let rect = rect(of: page)
        let strip = ImageRect(x: rect.x, y: line, width: rect.width, height: height)
        guard let visible = strip.intersection(self.rect(of: ground)) else { return }
        shade(visible, from: (0, line), to: (0, line + height), [0.35, 0])
    }
}

extension WebImageTransition {
    /// The new image grows from the middle while the old one fades out, in 0.5 seconds.
    public static var zoom: WebImageTransition { .zoom() }

    /// The new image grows from the middle while the old one fades out.
    ///
    /// - Parameter duration: the duration in seconds.
    public static func zoom(duration: Double = 0.5) -> WebImageTransition {
        WebImageTransition(duration: duration) { moment in
            if moment.drawEnds() { return }
            gtk_snapshot_push_opacity(moment.snapshot, 1 - moment.progress)
            moment.drawOld()
            gtk_snapshot_pop(moment.snapshot)
            moment.scaled(moment.progress, moment.progress) { moment.drawNew() }
        }
    }
}
