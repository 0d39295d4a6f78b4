import CWebImageGTK4
import WebImage
import WebImageGTK

/// The window: a grid, a viewer, a page about the caches, and one for when there is nothing to show.
@MainActor
final class GalleryWindow {
    /// Not to be used once it is closed; its pages stay.
    let widget: Widget
    let grid: GridPage
    let viewer: ViewerPage
    let cachePage: CachePage
    let notice = NoticeBar()
    private let stack: Widget
    private let back: Widget
    private let title: Widget
    private let defaultSize: ImageSize
    private(set) var items: [PictureItem] = []
    private(set) var index = 0
    /// Whether the pictures after the one that is shown are wanted next, or those before it.
    private var direction = 1
    /// Where the page about the caches was opened.
    private var pageBehindCache = Page.grid
    /// Sources that are being searched; those asked for later count.
    private var searches = 0
    /// Whether it is no more.
    private(set) var isClosed = false

    /// The window, for what is made before it.
    private final class Later {
        weak var window: GalleryWindow?
    }

    /// Its pages.
    enum Page: String {
        case empty, grid, viewer, cache
    }

    init(
        application: UnsafeMutablePointer<GtkApplication>,
        manager: WebImageManager,
        cache: ImageCache,
        _ arguments: Arguments
    ) {
        let later = Later()
        grid = GridPage(manager: manager) { later.window?.open($0) }
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
            Make.button(icon: "image-x-generic-symbolic", "Open pictures or lists (Ctrl+L)") { [weak self] in
                self?.choose(.files)
            },
        ]
        let ends = [
            Make.button(icon: "drive-harddisk-symbolic", "Caches (Ctrl+I)") { [weak self] in self?.showCache() },
            Make.button(icon: "weather-clear-night-symbolic", "Dark or light (Ctrl+D)") { Appearance.toggle() },
        ]
        for button in starts { gtk_header_bar_pack_start(header.opaque, button) }
        for button in ends { gtk_header_bar_pack_end(header.opaque, button) }
        return header
    }

    /// The window goes; its pages stay as long as this does, so what runs for them is ended here.
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
        // Else the stack gives the keyboard to what it takes for the first of the new page; who turns says who has it.
        if page != self.page { gtk_window_set_focus(widget.cast(), nil) }
        gtk_stack_set_visible_child_name(stack.opaque, page.rawValue)
        gtk_widget_set_visible(back, page == .grid || page == .empty ? 0 : 1)
        let text =
            switch page {
            case .empty: "Gallery"
            case .grid: items.count == 1 ? "1 picture" : "\(items.count) pictures"
            case .viewer: viewer.item?.title ?? ""
            case .cache: "Caches"
            }
        gtk_label_set_text(title.opaque, text)
        gtk_window_set_title(widget.cast(), text)
    }

    /// Shows all pictures; coming from one, that one is seen and has the keyboard, else what was seen before.
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

    /// From a picture to all, from the caches to where they were opened.
    func goBack() {
        if page == .cache, pageBehindCache == .viewer { open(index) } else { showGrid() }
    }

    // MARK: Pictures

    /// Shows other pictures, from the first one on.
    func show(_ items: [PictureItem]) {
        viewer.clear()
        self.items = items
        index = 0
        pageBehindCache = .grid
        grid.show(items)
        turn(to: items.isEmpty ? .empty : .grid)
        if items.isEmpty { gtk_widget_child_focus(stack, GTK_DIR_TAB_FORWARD) } else { grid.reveal(0) }
    }

    /// Shows one picture.
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

    /// Has the pictures beside the one that is shown at hand, the one ahead first; once all is laid out, since it is for that size.
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

    /// Shows the picture that is so many further.
    func step(_ count: Int) {
        if page == .viewer { open(index + count) }
    }

    /// The size of a page in points, or what it will be.
    private var pageSize: ImageSize {
        let (width, height) = (gtk_widget_get_width(stack), gtk_widget_get_height(stack))
        return width > 0 && height > 0 ? ImageSize(width: Double(width), height: Double(height)) : defaultSize
    }

    // MARK: Sources

    /// Asks for a folder, or for pictures and lists, and shows what is there.
    func choose(_ kind: SourceChooser.Kind) {
        SourceChooser.run(kind, over: widget) { [weak self] paths in self?.search(paths) }
    }

    /// Looks for pictures, away from this thread, and shows them. Where there are none, what is shown stays.
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
