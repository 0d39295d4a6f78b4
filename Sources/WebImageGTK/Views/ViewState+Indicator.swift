import CWebImageGTK4
import WebImage

extension ViewState {
    /// True while loads are in progress for which an indicator is shown.
    var showsIndicator: Bool { indicatorLoads > 0 }

    /// Called when a load has begun.
    func startIndicator() {
        indicatorLoads += 1
        indicator?.startAnimating(in: view)
    }

    /// Called when a load has ended.
    func stopIndicator() {
        guard indicatorLoads > 0 else { return }
        indicatorLoads -= 1
        if indicatorLoads == 0 { indicator?.stopAnimating() }
    }

    /// Hands over from another indicator in its current state.
    func indicatorChanged(from former: (any WebImageIndicator)?) {
        guard indicator !== former else { return }
        let wasVisible = (former as? any DelayedIndicator)?.isVisible ?? false
        former?.stopAnimating()
        guard showsIndicator, let indicator else { return }
        indicator.startAnimating(in: view)
        for load in loads { load.listen() }
        if let latestSlot, let state = loadState(latestSlot), state.isLoading {
            indicator.updateProgress(state.progress.fraction)
        }
        if wasVisible { (indicator as? any DelayedIndicator)?.show() }
    }

    /// Sets the paintable on the view with the view's current content, so that an indicator can be drawn over it.
    func takeOverContent() {
        if let current = currentContent {
            // It was not set by a load.
            shown = nil
            paintable.show(current)
        }
        installPaintable()
    }

    /// The content that the program has set on the view; nil if there is none, or if it is this library's paintable.
    private var currentContent: PaintableContent? {
        if view.isA(gtk_picture_get_type()) { return foreign(gtk_picture_get_paintable(view.opaque)) }
        guard view.isA(gtk_image_get_type()) else { return nil }
        guard gtk_image_get_storage_type(view.opaque) == GTK_IMAGE_PAINTABLE else { return ThemeIcon.shown(by: view) }
        return foreign(gtk_image_get_paintable(view.opaque))
    }

    private func foreign(_ current: OpaquePointer?) -> PaintableContent? {
        guard let current, UnsafeMutableRawPointer(current) != existingPaintable?.pointer else { return nil }
        return .paintable(ObjectReference(retaining: UnsafeMutableRawPointer(current)))
    }
}
