import CWebImageGTK4
public import FoundationEssentials
public import WebImage

/// Loads the images of a `GtkListView`, `GtkGridView` or `GtkColumnView`: visible cells first, the next rows by prefetching, and never a
/// stale image in a recycled cell.
///
/// These lists bind several times as many cells as are visible. A cell off the screen loads at low priority, and at high priority as soon
/// as it is on the screen. An image in memory is shown before ``bind(_:view:)`` returns. Unbinding a cell cancels its load, unless the list
/// binds the same image again at once or prefetches it.
///
/// Connect the loader to a `GtkSignalListItemFactory` with ``connect(to:makeCell:)`` or ``makeFactory(cellWidth:cellHeight:)``, or call
/// ``bind(_:view:)``, ``unbind(_:)`` and ``teardown(_:)`` from the handlers of your own factory. One loader serves one list (or one
/// column). For the main thread.
@MainActor
public final class ListImageLoader {
    /// Returns the image URL of an item of the list's model; nil if it has none. Called for cells and for prefetched positions.
    public typealias URLProvider = @MainActor (_ position: Int, _ item: UnsafeMutableRawPointer) -> URL?

    /// The options of the loads; none by default. The loader sets the priorities.
    public var options: WebImageOptions = []
    /// The context of the loads, which replaces defaults; nil by default.
    public var context: WebImageContext?
    /// Returns the placeholder of a cell until its image has arrived; nil, the default, means none.
    public var placeholder: (@MainActor (_ position: Int) -> ViewPlaceholder?)?
    /// Called when a cell's load has ended, with the position that the cell had; nil by default. Also called with
    /// ``WebImageError/Code/cancelled`` when the cell was unbound before.
    public var completed: (@MainActor (_ position: Int, Result<WebImageResult, WebImageError>) -> Void)?
    /// The number of images prefetched in the scroll direction, beyond all bound cells; 24 by default, 0 for none. Prefetches are cancelled
    /// when the direction changes.
    public var prefetchCount = 24 { didSet { scheduleUpdate() } }
    /// A Boolean value that determines whether cells keep their size regardless of the image, if their view is a `GtkPicture` with a
    /// requested width and height: the image is fitted into that box, and the list needs no new layout. True by default; read when a cell
    /// is bound for the first time.
    public var keepsCellSize = true

    private let url: URLProvider
    private var cells: [UnsafeMutableRawPointer: ListCell] = [:]
    private let prefetch = ListPrefetch()
    private var scroll = ListScroll()
    private var isUpdateScheduled = false
    /// The decode size of cells in pixels. Columns that share a width differ by a pixel; their images must not.
    private var pixelSize: ImageSize?
    /// True if images cover their cells completely.
    private var coversCells: Bool?

    /// - Parameter url: returns the image URL of an item.
    public init(url: @escaping URLProvider) { self.url = url }

    isolated deinit { for cell in cells.values { cell.end() } }

    // MARK: Factory signals

    /// Shows or loads the image of a cell's new item. For the factory's signal `bind`.
    ///
    /// - Parameters:
    ///   - listItem: the `GtkListItem`.
    ///   - view: the `GtkPicture` or `GtkImage` in the cell; by default the one of the previous call or of ``connect(to:makeCell:)``, or
    ///     the list item's child.
    /// - Precondition: `listItem` is a `GtkListItem`.
    public func bind(_ listItem: any GObjectPointer, view: (any GObjectPointer)? = nil) {
        let item = listItem.gobjectPointer
        precondition(item.isA(gtk_list_item_get_type()), "not a GtkListItem")
        guard let cell = cell(of: item, view: view?.gobjectPointer), let view = cell.view else { return }
        if cell.isBound { park(cell) }
        cell.isBound = true
        let position = cell.position
        let url = position.flatMap { position in
            gtk_list_item_get_item(item.opaque).flatMap { self.url(position, $0) }
        }
        load(url, position ?? 0, in: cell, view)
        if let url { prefetch.remove(url) }
        scheduleUpdate()
    }

    /// Cancels the load of a cell that has lost its item, and clears its view unless it is bound again before the next frame. For the
    /// factory's signal `unbind`.
    ///
    /// - Parameter listItem: the `GtkListItem`; one that was never bound is ignored.
    public func unbind(_ listItem: any GObjectPointer) {
        guard let cell = cells[listItem.gobjectPointer], cell.isBound else { return }
        // Before cancelling: the prefetch joins the load, which then continues.
        park(cell)
        cell.view?.cancelCurrentImageLoad(in: .of(context))
        cell.reset()
        scheduleUpdate()
    }

    /// Forgets a cell. For the factory's signal `teardown`; without it, the loader notices when the list item is finalized.
    ///
    /// - Parameter listItem: the `GtkListItem`; one that was never bound is ignored.
    public func teardown(_ listItem: any GObjectPointer) {
        unbind(listItem)
        guard let cell = cells.removeValue(forKey: listItem.gobjectPointer) else { return }
        clear(cell)
        cell.end()
    }

    /// Cancels all prefetching, until the list is scrolled again or a cell is bound.
    public func cancelPrefetching() { prefetch.cancelAll() }

    /// The URLs that are prefetched, for tests.
    var prefetchedURLs: Set<URL> { prefetch.urls }
    /// The number of cells that have been set up or bound and still exist, for tests.
    var cellCount: Int { cells.count }

    // MARK: Cells

    /// Returns the cell of a list item. Makes one if there is none, or if the item has another view now.
    ///
    /// - Parameter view: nil for the known view, or else the item's child.
    @discardableResult
    func cell(of item: UnsafeMutableRawPointer, view: UnsafeMutableRawPointer?) -> ListCell? {
        let known = cells[item]
        if let known, let shown = known.view, view == nil || view == shown { return known }
        let child = gtk_list_item_get_child(item.opaque).map { UnsafeMutableRawPointer($0) }
        guard let view = view ?? child else { return nil }
        known?.end()
        let cell = ListCell(
            item,
            view: view,
            changed: { [weak self] in self?.scheduleUpdate() },
            ended: { [weak self] in self?.itemHasGone(item) }
        )
        cells[item] = cell
        if keepsCellSize { ViewState.of(view).keepRequestedSize() }
        return cell
    }

    private func itemHasGone(_ item: UnsafeMutableRawPointer) {
        guard let cell = cells.removeValue(forKey: item) else { return }
        cell.itemHasGone()
        cell.end()
        scheduleUpdate()
    }

    // MARK: Loading

    private func load(_ url: URL?, _ position: Int, in cell: ListCell, _ view: UnsafeMutableRawPointer) {
        let state = ViewState.of(view)
        state.preferredPixelSize = preferredPixelSize(of: view, state)
        // The cell showed another item before, so its image must not serve as the placeholder.
        if options.contains(.delayPlaceholder), state.shown?.load.request.url != url { state.clearContent() }
        var options = options
        options.setPriority(cell.priority)
        var ended: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)?
        if let completed { ended = { completed(position, $0) } }
        let operation: WebImageLoadOperation? = view.setImage(
            with: url,
            placeholder: placeholder?(position) ?? nil,
            options: options,
            context: context,
            completed: ended
        )
        cell.begin(url, operation)
    }

    /// Returns the decode size of the cell's image: the same for all cells whose sizes differ by at most a pixel.
    private func preferredPixelSize(of view: UnsafeMutableRawPointer, _ state: ViewState) -> ImageSize? {
        guard state.usesAutomaticThumbnailSize, let size = ViewGeometry.pixelSize(of: view) else { return nil }
        coversCells = ContentFit.of(view).needsBothSides
        if let known = pixelSize {
            // A cell without a layout yet will be as big as the others.
            if gtk_widget_get_width(view.widget) <= 0 { return known }
            if abs(known.width - size.width) <= 1, abs(known.height - size.height) <= 1 { return known }
        }
        pixelSize = size
        return size
    }

    /// Starts a prefetch.
    private func loadAhead(_ url: URL) -> WebImageLoadOperation {
        var context = context ?? WebImageContext()
        let manager = context.customManager ?? .shared
        if context.sizeReuse == nil { context.sizeReuse = context.viewSizeReuse }
        context.customManager = nil
        context.callbackQueue = .inline
        if context.thumbnailPixelSize == nil {
            context.thumbnailPixelSize = pixelSize
            if context.thumbnailCovers == nil { context.thumbnailCovers = coversCells }
        }
        var options = options.subtracting(.highPriority)
        options.insert(.lowPriority)
        return manager.loadImage(with: url, options: options, context: context) { _ in }
    }

    /// Clears the view of a cell that is not bound.
    private func clear(_ cell: ListCell) {
        guard cell.hasContent, !cell.isBound else { return }
        cell.hasContent = false
        cell.view.flatMap(ViewState.existing)?.clear(.of(context))
    }

    /// Keeps the load of an unbound cell alive until the next update decides whether it is still needed.
    private func park(_ cell: ListCell) {
        guard let url = cell.url, cell.isLoading else { return }
        prefetch.add(url, start: { loadAhead($0) })
    }

    // MARK: Prefetching

    /// Coalesces all changes of a frame into one update.
    private func scheduleUpdate() {
        guard !isUpdateScheduled else { return }
        isUpdateScheduled = true
        MainLoopQueue.shared.post { [weak self] in self?.update() }
    }

    private func update() {
        isUpdateScheduled = false
        var bound: Set<Int> = []
        var visible: ClosedRange<Int>?
        var anyView: UnsafeMutableRawPointer?
        for cell in cells.values { clear(cell) }
        for cell in cells.values where cell.isBound {
            guard let position = cell.position else { continue }
            bound.insert(position)
            guard cell.isMapped else { continue }
            anyView = cell.view
            visible = min(visible?.lowerBound ?? position, position)...max(visible?.upperBound ?? position, position)
        }
        guard let visible, let model = anyView.flatMap(ListModel.of) else {
            return prefetch.want([], start: { loadAhead($0) })
        }
        scroll.move(to: visible)
        let next = scroll.positions(
            beyond: visible,
            excluding: bound,
            count: max(prefetchCount, 0),
            end: model.count
        )
        let urls = next.compactMap { position in model.withItem(at: position) { url(position, $0) } }
        prefetch.want(urls, start: { loadAhead($0) })
    }
}
