import CWebImageGTK4
import WebImageGTK

extension GridPage {
    /// Scrolls to an image, selects it, and gives it the keyboard focus.
    ///
    /// Focusing the grid itself would scroll back to the position that had the focus last.
    func reveal(_ index: Int) {
        guard items.indices.contains(index) else { return focusView() }
        select(index)
        let argument = g_variant_ref_sink(g_variant_new_uint32(guint32(index)))
        gtk_widget_activate_action_variant(view, "list.scroll-to-item", argument)
        g_variant_unref(argument)
        focus(index)
    }

    /// Focuses a visible image without scrolling: the selected one, or else the first that is completely visible.
    func focusVisible() {
        let seen = cells.filter { isWhole($0.value) }.keys
        let marked = selectedIndex.flatMap { seen.contains($0) ? $0 : nil }
        guard let index = marked ?? seen.min() else { return focusView() }
        focus(index)
    }

    private func focusView() { gtk_widget_grab_focus(view) }

    /// Focuses a cell once it has been made and laid out.
    private func focus(_ index: Int) {
        wantedFocus = index
        guard focusTick == 0 else { return }
        var framesLeft = 30
        focusTick = FrameTicks.begin(on: widget) { [weak self] in
            guard let self else { return false }
            framesLeft -= 1
            let isOver = takeFocus() || framesLeft == 0
            if isOver { (focusTick, wantedFocus) = (0, nil) }
            return !isOver
        }
    }

    /// - Returns: true if nothing is left to do.
    private func takeFocus() -> Bool {
        guard let index = wantedFocus else { return true }
        guard let cell = cells[index], gtk_widget_get_mapped(cell) != 0, let item = gtk_widget_get_parent(cell) else {
            return false
        }
        gtk_widget_grab_focus(item)
        return true
    }

    /// Returns whether a cell is completely visible.
    func isWhole(_ cell: Widget) -> Bool {
        var bounds = graphene_rect_t()
        guard gtk_widget_get_mapped(cell) != 0, gtk_widget_compute_bounds(cell, widget, &bounds) != 0 else {
            return false
        }
        return bounds.origin.y >= 0 && bounds.origin.y + bounds.size.height <= Float(gtk_widget_get_height(widget))
    }
}
