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
    /// Cells whose picture is under way.
    private(set) var pendingCount = 0
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
        failures = []
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
        let owner = Unmanaged.passUnretained(self).toOpaque()
        typealias ItemCall =
            @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
        let setup: ItemCall = { _, item, owner in GridPage.call(owner, item) { $0.setUp($1) } }
        let bind: ItemCall = { _, item, owner in GridPage.call(owner, item) { $0.bind($1) } }
        let unbind: ItemCall = { _, item, owner in GridPage.call(owner, item) { $0.unbind($1) } }
        for (name, call) in [("setup", setup), ("bind", bind), ("unbind", unbind)] {
            g_signal_connect_data(
                UnsafeMutableRawPointer(factory),
                name,
                unsafeBitCast(call, to: GCallback.self),
                owner,
                nil,
                GConnectFlags(rawValue: 0)
            )
        }
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

    private nonisolated static func call(
        _ owner: UnsafeMutableRawPointer,
        _ item: UnsafeMutableRawPointer,
        _ body: @MainActor (GridPage, OpaquePointer) -> Void
    ) {
        nonisolated(unsafe) let (owner, item) = (owner, OpaquePointer(item))
        MainActor.assumeIsolated {
            body(Unmanaged<GridPage>.fromOpaque(owner).takeUnretainedValue(), item)
        }
    }

    private func setUp(_ item: OpaquePointer) {
        let picture = Make.required(gtk_picture_new())
        gtk_widget_set_size_request(picture, Self.cellWidth, Self.cellHeight)
        UnsafeMutableRawPointer(picture).imageTransition = .fade(duration: 0.2)
        let title = Make.label(classes: "caption")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_MIDDLE)
        gtk_label_set_max_width_chars(title.opaque, 1)
        gtk_label_set_xalign(title.opaque, 0.5)
        let cell = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4, picture, title)
        cell.margins(6)
        gtk_list_item_set_child(item, cell)
    }

    /// The picture and the title of a cell.
    private func parts(of item: OpaquePointer) -> (picture: Widget, title: Widget)? {
        guard let cell = gtk_list_item_get_child(item), let picture = gtk_widget_get_first_child(cell),
            let title = gtk_widget_get_last_child(cell)
        else { return nil }
        return (picture, title)
    }

    private func bind(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard items.indices.contains(position), let (picture, title) = parts(of: item) else { return }
        let entry = items[position]
        gtk_label_set_text(title.opaque, entry.title)
        gtk_widget_set_tooltip_text(title, entry.title)
        gtk_picture_set_alternative_text(picture.opaque, entry.title)
        pendingCount += 1
        picture.setImage(
            with: entry.url,
            placeholder: .icon(name: "image-missing"),
            options: [.delayPlaceholder, .decodeFirstFrameOnly],
            context: entry.context(manager)
        ) { [weak self] result in
            guard let self else { return }
            pendingCount -= 1
            if case .failure(let error) = result, error.code != .cancelled { failures.append((entry, error)) }
        }
    }

    private func unbind(_ item: OpaquePointer) {
        guard let (picture, _) = parts(of: item) else { return }
        // Cancels, and clears: the next picture of the cell comes later.
        picture.setImage(with: nil)
    }
}

extension PictureItem {
    /// How its picture is loaded: what lies on this machine already is not copied into the cache on disk.
    @MainActor
    func context(_ manager: WebImageManager) -> WebImageContext {
        var context = WebImageContext()
        context.customManager = manager
        if url.scheme == "file" || url.scheme == "data" {
            context.storeCacheType = .memory
            context.originalStoreCacheType = ImageCacheType.none
        }
        return context
    }
}
