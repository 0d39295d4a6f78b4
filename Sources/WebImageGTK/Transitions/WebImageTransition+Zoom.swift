import CWebImageGTK4

extension WebImageTransition {
    /// The new image grows from the middle while the old one fades out.
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
