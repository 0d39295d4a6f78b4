import Glibc
import WebImage

extension WebImageTransition {
    /// The image turns around its vertical axis, the left side towards the viewer, with the new image on its back.
    public static var flipFromLeft: WebImageTransition { .flipFromLeft() }
    /// The image turns around its vertical axis, the right side towards the viewer, with the new image on its back.
    public static var flipFromRight: WebImageTransition { .flipFromRight() }
    /// The image turns around its horizontal axis, the top towards the viewer, with the new image on its back.
    public static var flipFromTop: WebImageTransition { .flipFromTop() }
    /// The image turns around its horizontal axis, the bottom towards the viewer, with the new image on its back.
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
