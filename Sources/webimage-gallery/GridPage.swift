import CWebImageGTK4
import WebImage
import WebImageGTK

/// The thumbnails of all pictures.
@MainActor
final class GridPage {
    static let cellWidth: Int32 = 184
    static let cellHeight: Int32 = 138

    let widget: Widget
    private let grid: OpaquePointer
    private let model: OpaquePointer
    private let selection: OpaquePointer
    private var items: [PictureItem] = []
    private let manager: WebImageManager
    private let open: (Int) -> Void
    private lazy var loader = ListImageLoader { [weak self] position, _ in
        guard let self, items.indices.contains(position) else { return nil }
        return items[position].url
    }
    /// Positions that have had a cell, and those whose load has ended.
    private var bound: Set<Int> = []
    private var ended: Set<Int> = []
    /// What could not be loaded.
    private(set) var failures: [(PictureItem, WebImageError)] = []

    /// - Parameter open: called with the number of the picture that was chosen.
    init(manager: WebImageManager, open: @escaping (Int) -> Void) {
        self.manager = manager
        self.open = open
        model = gtk_string_list_new(nil)
        selection = gtk_single_selection_new(g_object_ref(UnsafeMutableRawPointer(model)).map { OpaquePointer($0) })
        let factory = gtk_signal_list_item_factory_new()
        let view = Make.required(gtk_grid_view_new(selection, factory))
        grid = OpaquePointer(view)
        gtk_grid_view_set_min_columns(grid, 1)
        gtk_grid_view_set_max_columns(grid, 24)
        gtk_grid_view_set_single_click_activate(grid, 1)
        gtk_widget_add_css_class(view, "gallery-grid")
        Make.setAccessibleLabel(of: view, "Pictures")
        widget = Make.required(gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(widget.opaque, view)
        gtk_scrolled_window_set_policy(widget.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        widget.expand()
        connect(factory)
    }

    /// Shows other pictures.
    func show(_ items: [PictureItem]) {
        self.items = items
        (failures, bound, ended) = ([], [], [])
        let count = g_list_model_get_n_items(model)
        var names: [UnsafePointer<CChar>?] = []
        let copies = items.map { g_strdup($0.title) }
        names = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        gtk_string_list_splice(model, 0, count, &names)
        for copy in copies { g_free(copy) }
    }

    /// Takes the keyboard.
    func focus() { gtk_widget_grab_focus(UnsafeMutablePointer<GtkWidget>(grid)) }

    /// Scrolls so that a picture is seen, and marks it.
    func select(_ index: Int) { gtk_single_selection_set_selected(selection, guint(index)) }

    // MARK: Cells

    private func connect(_ factory: OpaquePointer?) {
        guard let factory else { return }
        loader.options = [.delayPlaceholder, .decodeFirstFrameOnly]
        var context = WebImageContext()
        context.customManager = manager
        loader.context = context
        loader.placeholder = { _ in .icon(name: "image-missing") }
        loader.completed = { [weak self] position, result in self?.note(result, at: position) }
        loader.connect(to: factory) { [weak self] item in
            self?.setUp(OpaquePointer(item)) ?? Make.required(gtk_picture_new())
        }
        let owner = Unmanaged.passUnretained(self).toOpaque()
        let bind: @convention(c) (UnsafeMutableRawPointer, OpaquePointer, UnsafeMutableRawPointer) -> Void = {
            _,
            item,
            owner in
            nonisolated(unsafe) let (itemPointer, ownerPointer) = (item, owner)
            MainActor.assumeIsolated {
                Unmanaged<GridPage>.fromOpaque(ownerPointer).takeUnretainedValue().fill(itemPointer)
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(factory),
            "bind",
            unsafeBitCast(bind, to: GCallback.self),
            owner,
            nil,
            GConnectFlags(rawValue: 0)
        )
        let activate: @convention(c) (UnsafeMutableRawPointer, guint, UnsafeMutableRawPointer) -> Void = {
            _,
            position,
            owner in
            nonisolated(unsafe) let owner = owner
            MainActor.assumeIsolated {
                Unmanaged<GridPage>.fromOpaque(owner).takeUnretainedValue().open(Int(position))
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(grid),
            "activate",
            unsafeBitCast(activate, to: GCallback.self),
            owner,
            nil,
            GConnectFlags(rawValue: 0)
        )
    }

    /// Makes a cell: its picture.
    private func setUp(_ item: OpaquePointer) -> Widget {
        let picture = Make.required(gtk_picture_new())
        gtk_widget_set_size_request(picture, Self.cellWidth, Self.cellHeight)
        picture.imageTransition = .fade(duration: 0.2)
        picture.imageIndicator = ActivityIndicator()
        let title = Make.label(classes: "caption")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_MIDDLE)
        gtk_label_set_max_width_chars(title.opaque, 1)
        gtk_label_set_xalign(title.opaque, 0.5)
        let cell = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4, picture, title)
        cell.margins(6)
        gtk_list_item_set_child(item, cell)
        return picture
    }

    /// Writes a cell's texts.
    private func fill(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard items.indices.contains(position), let cell = gtk_list_item_get_child(item),
            let picture = gtk_widget_get_first_child(cell), let title = gtk_widget_get_last_child(cell)
        else { return }
        let entry = items[position]
        gtk_label_set_text(title.opaque, entry.title)
        gtk_widget_set_tooltip_text(title, entry.title)
        gtk_picture_set_alternative_text(picture.opaque, entry.title)
        bound.insert(position)
    }

    private func note(_ result: Result<WebImageResult, WebImageError>, at position: Int) {
        ended.insert(position)
        guard case .failure(let error) = result, error.code != .cancelled, items.indices.contains(position) else {
            return
        }
        failures.append((items[position], error))
    }

    /// Pictures of cells that are under way.
    var pendingCount: Int { bound.subtracting(ended).count }
}
