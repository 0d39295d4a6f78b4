extension WebImageTransition {
    /// The new image slides in from the left and pushes the old one out.
    public static var slideFromLeft: WebImageTransition { .slideFromLeft() }
    /// The new image slides in from the right and pushes the old one out.
    public static var slideFromRight: WebImageTransition { .slideFromRight() }
    /// The new image slides in from the top and pushes the old one out.
    public static var slideFromTop: WebImageTransition { .slideFromTop() }
    /// The new image slides in from the bottom and pushes the old one out.
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
