import CWebImageGTK4
import WebImage
import WebImageGTK

/// The window: a grid, a viewer, and a page about the caches.
@MainActor
final class GalleryWindow {
    let widget: Widget
    let grid: GridPage
    let viewer: ViewerPage
    let cachePage: CachePage
    private let stack: Widget
    private let back: Widget
    private let title: Widget
    private(set) var items: [PictureItem] = []
    private var index = 0

    /// The window, for what is made before it.
    private final class Later {
        weak var window: GalleryWindow?
    }

    /// Its pages.
    enum Page: String {
        case grid, viewer, cache
    }

    init(
        application: UnsafeMutablePointer<GtkApplication>,
        manager: WebImageManager,
        cache: ImageCache,
        _ arguments: Arguments
    ) {
        let later = Later()
        grid = GridPage(manager: manager) { later.window?.open($0) }
        viewer = ViewerPage(manager: manager)
        cachePage = CachePage(cache: cache)
        widget = Make.required(gtk_application_window_new(application))
        gtk_window_set_default_size(widget.cast(), Int32(arguments.width), Int32(arguments.height))
        stack = Make.required(gtk_stack_new())
        title = Make.label(classes: "title")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_MIDDLE)
        let header = Make.required(gtk_header_bar_new())
        back = Make.button(icon: "go-previous-symbolic", "Back to all pictures (Escape)") { later.window?.showGrid() }
        gtk_header_bar_pack_start(header.opaque, back)
        gtk_header_bar_set_title_widget(header.opaque, title)
        gtk_window_set_titlebar(widget.cast(), header)
        gtk_window_set_child(widget.cast(), stack)
        for (page, child) in [(Page.grid, grid.widget), (.viewer, viewer.widget), (.cache, cachePage.widget)] {
            gtk_stack_add_named(stack.opaque, child, page.rawValue)
        }
        later.window = self
        addHeaderButtons(to: header)
        addKeys()
        showGrid()
    }

    /// Shows other pictures.
    func show(_ items: [PictureItem]) {
        self.items = items
        grid.show(items)
        showGrid()
    }

    var page: Page {
        gtk_stack_get_visible_child_name(stack.opaque).flatMap { Page(rawValue: String(cString: $0)) } ?? .grid
    }

    private func turn(to page: Page) {
        gtk_stack_set_visible_child_name(stack.opaque, page.rawValue)
        gtk_widget_set_visible(back, page == .grid ? 0 : 1)
        let text =
            switch page {
            case .grid: items.count == 1 ? "1 picture" : "\(items.count) pictures"
            case .viewer: viewer.item?.title ?? ""
            case .cache: "Caches"
            }
        gtk_label_set_text(title.opaque, text)
        gtk_window_set_title(widget.cast(), text)
    }

    func showGrid() {
        if page == .viewer {
            viewer.clear()
            grid.select(index)
        }
        turn(to: .grid)
        grid.focus()
    }

    func showCache() {
        viewer.clear()
        turn(to: .cache)
        cachePage.update()
    }

    /// Shows one picture.
    func open(_ index: Int) {
        guard items.indices.contains(index) else { return }
        self.index = index
        viewer.show(items[index])
        turn(to: .viewer)
        gtk_widget_grab_focus(viewer.scroller)
    }

    /// Shows the picture that is so many further.
    func step(_ count: Int) {
        if page == .viewer, items.indices.contains(index + count) { open(index + count) }
    }

    private func addHeaderButtons(to header: Widget) {
        gtk_header_bar_pack_start(
            header.opaque,
            Make.button(icon: "folder-open-symbolic", "Open a folder (Ctrl+O)") { [weak self] in self?.choose(.folder) }
        )
        gtk_header_bar_pack_start(
            header.opaque,
            Make.button(icon: "image-x-generic-symbolic", "Open pictures or lists (Ctrl+L)") { [weak self] in
                self?.choose(.files)
            }
        )
        gtk_header_bar_pack_end(
            header.opaque,
            Make.button(icon: "drive-harddisk-symbolic", "Caches") { [weak self] in self?.showCache() }
        )
        gtk_header_bar_pack_end(
            header.opaque,
            Make.button(icon: "weather-clear-night-symbolic", "Dark or light") { Appearance.toggle() }
        )
    }

    /// Asks for a folder, or for pictures and lists, and shows what is there.
    func choose(_ kind: SourceChooser.Kind) {
        SourceChooser.run(kind, over: widget) { [weak self] paths in self?.show(PictureList(paths).items) }
    }
}
