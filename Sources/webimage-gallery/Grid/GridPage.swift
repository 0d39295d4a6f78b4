import CWebImageGTK4
import WebImage
import WebImageGTK

/// The grid of all thumbnails.
@MainActor
final class GridPage {
    let root: RetainedWidget
    let view: Widget
    let model: OpaquePointer
    private let selection: OpaquePointer
    private let factory: OpaquePointer
    private(set) var items: [ImageItem] = []
    /// The height of the window in points, before the first layout.
    let defaultHeight: Int
    /// The number of items in the model. The others follow the first screen.
    var listedCount = 0
    var listingTick: guint = 0
    private let manager: WebImageManager
    private let open: (Int) -> Void
    private var hasNewWidth = false
    private(set) lazy var loader = ListImageLoader { [weak self] position, _ in
        guard let self, items.indices.contains(position) else { return nil }
        return items[position].url
    }
    /// The cells of bound positions.
    var cells: [Int: Widget] = [:]
    /// The positions that have had a cell, and those whose load has ended.
    var bound: Set<Int> = []
    var ended: Set<Int> = []
    /// The errors of failed loads, by position.
    var errors: [Int: WebImageError] = [:]
    /// The position of the cell to focus once it exists.
    var wantedFocus: Int?
    var focusTick: guint = 0

    /// - Parameters:
    ///   - width: The width of the window in points, before the first layout.
    ///   - height: The height of the window.
    ///   - open: Called with the index of the activated image.
    init(manager: WebImageManager, width: Int, height: Int, open: @escaping (Int) -> Void) {
        self.manager = manager
        defaultHeight = height
        self.open = open
        let model = Make.required(gtk_string_list_new(nil))
        self.model = model
        let selection = Make.required(
            gtk_single_selection_new(g_object_ref(UnsafeMutableRawPointer(model)).map { OpaquePointer($0) })
        )
        self.selection = selection
        factory = Make.required(gtk_signal_list_item_factory_new())
        let view = Make.required(gtk_grid_view_new(selection, factory))
        self.view = view
        root = RetainedWidget(Make.required(gtk_scrolled_window_new()))
        gtk_grid_view_set_min_columns(view.opaque, 1)
        gtk_widget_add_css_class(view, "gallery-grid")
        Make.setAccessibleLabel(of: view, "Images")
        gtk_scrolled_window_set_child(widget.opaque, view)
        gtk_scrolled_window_set_policy(widget.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        widget.expand()
        fitColumns(to: Double(width))
        connect()
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(model))
    }

    var widget: Widget { root.widget }

    /// Replaces the images and selects the first one.
    func show(_ items: [ImageItem]) {
        self.items = items
        (bound, ended, errors, wantedFocus) = ([], [], [:], nil)
        listFirstScreen()
        if !items.isEmpty { gtk_single_selection_set_selected(selection, 0) }
    }

    /// Selects an image.
    func select(_ index: Int) {
        guard items.indices.contains(index) else { return }
        if index >= listedCount { listAll() }
        gtk_single_selection_set_selected(selection, guint(index))
    }

    /// The index of the selected image.
    var selectedIndex: Int? {
        let index = Int(gtk_single_selection_get_selected(selection))
        return items.indices.contains(index) ? index : nil
    }

    /// The errors of failed loads, in order.
    var failures: [(ImageItem, WebImageError)] {
        errors.sorted { $0.key < $1.key }.compactMap { index, error in
            items.indices.contains(index) ? (items[index], error) : nil
        }
    }

    /// The number of bound images that are still loading.
    var pendingCount: Int { bound.subtracting(ended).count }

    /// True if the list has all items, and no bound image is still loading. While the grid is hidden, the others do not follow: it has no
    /// frames.
    var isComplete: Bool {
        (listedCount == items.count || gtk_widget_get_mapped(widget) == 0) && pendingCount == 0
    }

    // MARK: Columns

    /// Limits the columns to those that fit: the grid makes cells for about thirty rows of the maximum number of columns.
    private func fitColumns(to width: Double) {
        let count = guint(min(max(width / Double(Self.cellWidth + 2 * Self.cellMargin), 1), 100))
        if gtk_grid_view_get_max_columns(view.opaque) != count { gtk_grid_view_set_max_columns(view.opaque, count) }
    }

    /// Called during the layout, when nothing must change.
    private func widthChanged() {
        guard !hasNewWidth else { return }
        hasNewWidth = true
        _ = FrameTicks.begin(on: widget) { [weak self] in
            guard let self else { return false }
            hasNewWidth = false
            let width = gtk_widget_get_width(widget)
            if width > 0 { fitColumns(to: Double(width)) }
            return false
        }
    }

    // MARK: Signals

    private func connect() {
        if let adjustment = gtk_scrolled_window_get_hadjustment(widget.opaque) {
            Signal("notify::page-size", of: UnsafeMutableRawPointer(adjustment)) { [weak self] in self?.widthChanged() }
        }
        // Connected before the loader, which reports images from memory while it binds.
        Make.onItem("bind", of: factory) { [weak self] in self?.fill($0) }
        Make.onItem("unbind", of: factory) { [weak self] in self?.empty($0) }
        loader.options = [.delayPlaceholder, .decodeFirstFrameOnly]
        var context = WebImageContext()
        context.customManager = manager
        loader.context = context
        loader.placeholder = { _ in .icon(name: "image-missing") }
        loader.completed = { [weak self] position, result in self?.note(result, at: position) }
        loader.connect(to: factory) { [weak self] item in
            self?.makeCell(OpaquePointer(item)) ?? Make.required(gtk_picture_new())
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
            UnsafeMutableRawPointer(view),
            "activate",
            unsafeBitCast(activate, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        openOnClick()
        showTitles()
    }

    /// Shows the title of the image under the pointer as a tooltip.
    private func showTitles() {
        typealias Query =
            @convention(c) (
                UnsafeMutableRawPointer, gint, gint, gboolean, OpaquePointer, UnsafeMutableRawPointer
            ) -> gboolean
        let query: Query = { _, x, y, isByKeyboard, tooltip, owner in
            nonisolated(unsafe) let (tooltip, owner) = (tooltip, owner)
            return MainActor.assumeIsolated {
                let page = Unmanaged<GridPage>.fromOpaque(owner).takeUnretainedValue()
                let index = isByKeyboard != 0 ? page.selectedIndex : page.index(atX: Double(x), y: Double(y))
                guard let index, page.items.indices.contains(index) else { return 0 }
                gtk_tooltip_set_text(tooltip, page.items[index].title)
                return 1
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(view),
            "query-tooltip",
            unsafeBitCast(query, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        gtk_widget_set_has_tooltip(view, 1)
    }

    /// Opens an image with a single click. GTK's own single-click mode moves the keyboard focus to the pointer, in newer versions after
    /// each key press, so arrow keys would not work.
    private func openOnClick() {
        guard let click = gtk_gesture_click_new() else { return }
        typealias Call = @convention(c) (OpaquePointer, gint, Double, Double, UnsafeMutableRawPointer) -> Void
        let released: Call = { _, count, x, y, owner in
            nonisolated(unsafe) let owner = owner
            MainActor.assumeIsolated {
                let page = Unmanaged<GridPage>.fromOpaque(owner).takeUnretainedValue()
                if count == 1, let index = page.index(atX: x, y: y) { page.open(index) }
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(click),
            "released",
            unsafeBitCast(released, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        gtk_widget_add_controller(view, click)
    }

    /// Returns the index of the image at a position of the grid.
    private func index(atX x: Double, y: Double) -> Int? {
        var widget = gtk_widget_pick(view, x, y, GTK_PICK_DEFAULT)
        while let current = widget, gtk_widget_get_parent(current) != view { widget = gtk_widget_get_parent(current) }
        return cells.first { gtk_widget_get_parent($0.value) == widget }?.key
    }
}
