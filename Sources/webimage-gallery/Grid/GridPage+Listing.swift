import CWebImageGTK4

/// The list gets the items of the first screen first, and the others once that is complete. It makes cells for about thirty rows, whatever
/// its height, and binds them before the first frame.
extension GridPage {
    /// The number of frames after which the other items follow, however long the first images take.
    private static let mostFrames = 12

    /// Replaces the items in the list by those of the first screen, and adds the others later.
    func listFirstScreen() {
        let height = gtk_widget_get_height(widget)
        let rowCount = (height > 0 ? Int(height) : defaultHeight) / Int(Self.cellHeight + 2 * Self.cellMargin) + 1
        listedCount = 0
        list(to: min(rowCount * Int(gtk_grid_view_get_max_columns(view.opaque)), items.count))
        guard listedCount < items.count, listingTick == 0 else { return }
        var (framesLeft, wasComplete) = (Self.mostFrames, false)
        listingTick = FrameTicks.begin(on: widget) { [weak self] in
            guard let self else { return false }
            framesLeft -= 1
            // The frame with the last image is drawn before.
            if !wasComplete, framesLeft > 0 {
                wasComplete = screenCount != nil
                return true
            }
            listingTick = 0
            listAll()
            return false
        }
    }

    /// Adds the items that the list does not have yet.
    func listAll() {
        if listedCount < items.count { list(to: items.count) }
    }

    /// Replaces the items in the list from `listedCount` on by those up to `end`.
    private func list(to end: Int) {
        let copies = items[listedCount..<end].map { g_strdup($0.title) }
        defer { for copy in copies { g_free(copy) } }
        var names = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        let start = guint(listedCount)
        listedCount = end
        gtk_string_list_splice(model, start, g_list_model_get_n_items(model) - start, &names)
    }
}
