import CWebImageGTK4
import WebImage
import WebImageGTK

/// The main window: a grid, a viewer, a cache page, and a page for an empty gallery.
@MainActor
final class GalleryWindow {
    /// Must not be used after the window has been closed; its pages stay valid.
    let widget: Widget
    let grid: GridPage
    let viewer: ViewerPage
    let cachePage: CachePage
    let notice = NoticeBar()
    private let stack: Widget
    private let back: Widget
    private let title: Widget
    private let defaultSize: ImageSize
    private(set) var items: [ImageItem] = []
    private(set) var index = 0
    /// The direction of navigation: 1 towards later images, -1 towards earlier ones.
    private var direction = 1
    /// The page from which the cache page was opened.
    private var pageBehindCache = Page.grid
    /// The number of the latest source search; results of earlier ones are ignored.
    private var searches = 0
    /// True after the window has been destroyed.
    private(set) var isClosed = false

    /// A weak reference to the window for closures that are made before it.
    private final class Later {
        weak var window: GalleryWindow?
    }

    /// The pages of the stack.
    enum Page: String {
        case empty, grid, viewer, cache
    }

    /// - Parameters:
    ///   - manager: Loads the images of the viewer.
    ///   - thumbnails: Loads those of the grid; `manager` if nil.
    init(
        application: UnsafeMutablePointer<GtkApplication>,
        manager: WebImageManager,
        thumbnails: WebImageManager? = nil,
        cache: ImageCache,
        _ arguments: Arguments
    ) {
        let later = Later()
        grid = GridPage(manager: thumbnails ?? manager, width: arguments.width, height: arguments.height) {
            later.window?.open($0)
        }
        viewer = ViewerPage(manager: manager) { later.window?.step($0) }
        cachePage = CachePage(cache: cache)
        widget = Make.required(gtk_application_window_new(application))
        defaultSize = ImageSize(width: Double(arguments.width), height: Double(arguments.height))
        stack = Make.required(gtk_stack_new())
        stack.expand()
        title = Make.label(classes: "title")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_MIDDLE)
        back = Make.button(icon: "go-previous-symbolic", "Back (Escape)") { later.window?.goBack() }
        later.window = self
        viewer.settled = { [weak self] in self?.prepareNeighbours() }
        let empty = EmptyPage.make { [weak self] in self?.choose($0) }
        gtk_window_set_default_size(widget.cast(), Int32(arguments.width), Int32(arguments.height))
        gtk_window_set_titlebar(widget.cast(), makeHeader())
        gtk_window_set_child(widget.cast(), Make.box(GTK_ORIENTATION_VERTICAL, notice.widget, stack))
        let pages = [
            (Page.empty, empty), (.grid, grid.widget), (.viewer, viewer.widget), (.cache, cachePage.widget),
        ]
        for (page, child) in pages { gtk_stack_add_named(stack.opaque, child, page.rawValue) }
        addShortcuts()
        Signal("destroy", of: UnsafeMutableRawPointer(widget)) { [weak self] in self?.close() }
        showGrid()
    }

    private func makeHeader() -> Widget {
        let header = Make.required(gtk_header_bar_new())
        gtk_header_bar_set_title_widget(header.opaque, title)
        let starts = [
            back,
            Make.button(icon: "folder-open-symbolic", "Open a folder (Ctrl+O)") { [weak self] in self?.choose(.folder)
            },
            Make.button(icon: "image-x-generic-symbolic", "Open images or URL lists (Ctrl+L)") { [weak self] in
                self?.choose(.files)
            },
        ]
        let ends = [
            Make.button(icon: "drive-harddisk-symbolic", "Caches (Ctrl+I)") { [weak self] in self?.showCache() },
            Make.button(icon: "weather-clear-night-symbolic", "Toggle dark mode (Ctrl+D)") { Appearance.toggle() },
        ]
        for button in starts { gtk_header_bar_pack_start(header.opaque, button) }
        for button in ends { gtk_header_bar_pack_end(header.opaque, button) }
        return header
    }

    /// Handles the destruction of the window. Its pages live as long as this object, so their loads are cancelled here.
    private func close() {
        isClosed = true
        viewer.clear()
        grid.show([])
    }

    // MARK: Pages

    var page: Page {
        gtk_stack_get_visible_child_name(stack.opaque).flatMap { Page(rawValue: String(cString: $0)) } ?? .grid
    }

    private func turn(to page: Page) {
        // Otherwise the stack focuses a widget of the new page; callers set the focus themselves.
        if page != self.page { gtk_window_set_focus(widget.cast(), nil) }
        gtk_stack_set_visible_child_name(stack.opaque, page.rawValue)
        gtk_widget_set_visible(back, page == .grid || page == .empty ? 0 : 1)
        let text =
            switch page {
            case .empty: "Gallery"
            case .grid: items.count == 1 ? "1 image" : "\(items.count) images"
            case .viewer: viewer.item?.title ?? ""
            case .cache: "Caches"
            }
        gtk_label_set_text(title.opaque, text)
        gtk_window_set_title(widget.cast(), text)
    }

    /// Shows the grid. When leaving the viewer, scrolls to its image and focuses it; otherwise keeps the scroll position.
    func showGrid() {
        let former = page
        viewer.clear()
        turn(to: items.isEmpty ? .empty : .grid)
        if former == .viewer || (former == .cache && pageBehindCache == .viewer) {
            grid.reveal(index)
        } else {
            grid.focusVisible()
        }
    }

    func showCache() {
        if page != .cache { pageBehindCache = page }
        viewer.clear()
        turn(to: .cache)
        cachePage.update()
    }

    /// Returns from the viewer to the grid, or from the cache page to the page before it.
    func goBack() {
        if page == .cache, pageBehindCache == .viewer { open(index) } else { showGrid() }
    }

    // MARK: Images

    /// Replaces the images and scrolls to the first one.
    func show(_ items: [ImageItem]) {
        viewer.clear()
        self.items = items
        index = 0
        pageBehindCache = .grid
        grid.show(items)
        turn(to: items.isEmpty ? .empty : .grid)
        if items.isEmpty { gtk_widget_child_focus(stack, GTK_DIR_TAB_FORWARD) } else { grid.reveal(0) }
    }

    /// Opens an image in the viewer.
    func open(_ index: Int) {
        guard items.indices.contains(index), !isClosed else { return }
        direction = index < self.index ? -1 : 1
        self.index = index
        viewer.show(
            items[index],
            place: (index, items.count),
            thumbnail: grid.thumbnail(at: index),
            pageSize: pageSize
        )
        turn(to: .viewer)
        gtk_widget_grab_focus(viewer.scroller)
    }

    /// Preloads the neighbours of the current image, first in the direction of navigation. Waits for the layout, which determines the
    /// decode size.
    private func prepareNeighbours() {
        let index = index
        var framesLeft = 2
        _ = FrameTicks.begin(on: stack) { [weak self] in
            framesLeft -= 1
            guard framesLeft == 0 else { return true }
            guard let self, page == .viewer, self.index == index else { return false }
            let others = [index + direction, index - direction].filter { self.items.indices.contains($0) }
            viewer.prepare(others.map { self.items[$0].url }, pageSize: pageSize)
            return false
        }
    }

    /// Opens the image at an offset from the current one.
    func step(_ count: Int) {
        if page == .viewer { open(index + count) }
    }

    /// The size of a page in points; the default size before the first layout.
    private var pageSize: ImageSize {
        let (width, height) = (gtk_widget_get_width(stack), gtk_widget_get_height(stack))
        return width > 0 && height > 0 ? ImageSize(width: Double(width), height: Double(height)) : defaultSize
    }

    // MARK: Sources

    /// Shows a file chooser for a folder, or for images and lists, and opens the selection.
    func choose(_ kind: SourceChooser.Kind) {
        SourceChooser.run(kind, over: widget) { [weak self] paths in self?.search(paths) }
    }

    /// Searches sources for images in the background and shows them. If there are none, the current images stay.
    func search(_ sources: [String]) {
        searches += 1
        let number = searches
        SourceSearch.begin(sources) { [weak self] list in
            guard let self, number == searches, !isClosed else { return }
            notice.show(list.complaints)
            if !list.items.isEmpty { show(list.items) }
        }
    }
}
