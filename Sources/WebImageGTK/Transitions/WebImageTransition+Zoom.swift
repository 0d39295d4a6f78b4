import CWebImageGTK4

extension WebImageTransition {
    /// The new picture grows out of the middle while the old one fades.
    public static var zoom: WebImageTransition { .zoom() }

    /// The new picture grows out of the middle while the old one fades.
    ///
    /// - Parameter duration: in seconds.
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
