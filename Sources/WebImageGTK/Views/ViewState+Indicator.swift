import CWebImageGTK4
import WebImage

extension ViewState {
    /// Whether loads are under way that an indicator is shown for.
    var showsIndicator: Bool { indicatorLoads > 0 }

    /// A load has begun.
    func startIndicator() {
        indicatorLoads += 1
        indicator?.startAnimating(in: view)
    }

    /// A load has ended.
    func stopIndicator() {
        guard indicatorLoads > 0 else { return }
        indicatorLoads -= 1
        if indicatorLoads == 0 { indicator?.stopAnimating() }
    }

    /// Another one takes over, in the state in which the former was.
    func indicatorChanged(from former: (any WebImageIndicator)?) {
        guard indicator !== former else { return }
        let wasVisible = (former as? any DelayedIndicator)?.isVisible ?? false
        former?.stopAnimating()
        guard showsIndicator, let indicator else { return }
        indicator.startAnimating(in: view)
        for load in loads.values { load.listen() }
        if let key = latestKey, let state = loadState(key), state.isLoading {
            indicator.updateProgress(state.progress.fraction)
        }
        if wasVisible { (indicator as? any DelayedIndicator)?.show() }
    }

    /// Makes the paintable what the view shows, with what is shown now in it, so that something can be drawn over it.
    func takeOverContent() {
        if let current = currentContent {
            // No load brought it.
            shown = nil
            paintable.show(current)
        }
        installPaintable()
    }

    /// What the view was given by somebody else; nil for nothing, or for this library's paintable.
    private var currentContent: PaintableContent? {
        if view.isA(gtk_picture_get_type()) { return foreign(gtk_picture_get_paintable(view.opaque)) }
        guard view.isA(gtk_image_get_type()) else { return nil }
        switch gtk_image_get_storage_type(view.opaque) {
        case GTK_IMAGE_PAINTABLE: return foreign(gtk_image_get_paintable(view.opaque))
        case GTK_IMAGE_ICON_NAME:
            let name = gtk_image_get_icon_name(view.opaque).map { String(cString: $0) }
            return name.flatMap { ViewPlaceholder.icon(name: $0).content(for: view) }
        case GTK_IMAGE_GICON:
            let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(view.widget))
            let (scale, direction) = (gtk_widget_get_scale_factor(view.widget), gtk_widget_get_direction(view.widget))
            let none = GtkIconLookupFlags(rawValue: 0)
            let icon = gtk_icon_theme_lookup_by_gicon(
                theme,
                gtk_image_get_gicon(view.opaque),
                48,
                scale,
                direction,
                none
            )
            return icon.map { .paintable(ObjectReference(adopting: UnsafeMutableRawPointer($0))) }
        default: return nil
        }
    }

    private func foreign(_ current: OpaquePointer?) -> PaintableContent? {
        guard let current, UnsafeMutableRawPointer(current) != existingPaintable?.pointer else { return nil }
        return .paintable(ObjectReference(retaining: UnsafeMutableRawPointer(current)))
    }
}
