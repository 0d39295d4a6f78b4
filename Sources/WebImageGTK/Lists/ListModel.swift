import CWebImageGTK4

/// The model of the list that contains a view.
@MainActor
struct ListModel {
    private let pointer: OpaquePointer

    /// Returns nil if the view is in no list, or in one without a model.
    static func of(_ view: UnsafeMutableRawPointer) -> ListModel? {
        guard let list = gtk_widget_get_ancestor(view.widget, gtk_list_base_get_type()) else { return nil }
        let raw = UnsafeMutableRawPointer(list)
        // A column view contains a list view.
        let model =
            raw.isA(gtk_grid_view_get_type())
            ? gtk_grid_view_get_model(raw.opaque) : gtk_list_view_get_model(raw.opaque)
        return model.map { ListModel(pointer: $0) }
    }

    var count: Int { Int(g_list_model_get_n_items(pointer)) }

    /// Calls `body` with the item at a position and returns its result; nil if the position is out of range.
    func withItem<Value>(at position: Int, _ body: (UnsafeMutableRawPointer) -> Value?) -> Value? {
        guard let index = UInt32(exactly: position), let item = g_list_model_get_item(pointer, index) else {
            return nil
        }
        defer { g_object_unref(item) }
        return body(item)
    }
}
