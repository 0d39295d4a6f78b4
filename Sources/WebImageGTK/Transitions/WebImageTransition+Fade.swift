import CWebImageGTK4

extension WebImageTransition {
    /// The new image fades in over the old one.
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
