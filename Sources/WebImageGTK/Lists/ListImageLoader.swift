import CWebImageGTK4
public import FoundationEssentials
public import WebImage

/// Loads the pictures of a `GtkListView`, `GtkGridView` or `GtkColumnView`: those on the screen first, those that come next ahead of time,
/// and never a wrong one into a cell that is used again.
///
/// These lists bind several times as many cells as are seen. A cell that is not on the screen is loaded at low priority, and at high
/// priority as soon as it comes onto it; what lies in memory is in the cell when ``bind(_:view:)`` returns. When a cell is unbound its load
/// is cancelled, unless the list binds the same picture again at once or will come to it next.
///
/// It is connected to a `GtkSignalListItemFactory`, with ``connect(to:makeCell:)`` or ``makeFactory(cellWidth:cellHeight:)``, or called by the
/// handlers of a program's own factory: ``bind(_:view:)``, ``unbind(_:)`` and ``teardown(_:)``. One loader serves one list (or one
/// column). For the main thread.
@MainActor
public final class ListImageLoader {
    /// Says which picture an item of the list's model has; nil for none. Called for cells and for positions that come next.
    public typealias URLProvider = @MainActor (_ position: Int, _ item: UnsafeMutableRawPointer) -> URL?

    /// How loads behave; none by default. Their priorities are the loader's business.
    public var options: WebImageOptions = []
    /// What loads use in place of the defaults; nil by default.
    public var context: WebImageContext?
    /// What a cell shows until its picture is there; nil, the default, for nothing.
    public var placeholder: (@MainActor (_ position: Int) -> ViewPlaceholder?)?
    /// Called when a cell's load has ended, with the position it had; nil by default. Also with ``WebImageError/Code/cancelled``, when the
    /// cell was unbound before.
    public var completed: (@MainActor (_ position: Int, Result<WebImageResult, WebImageError>) -> Void)?
    /// How many pictures are loaded ahead, beyond those of all cells, in the direction in which the list is being scrolled; 24 by default, 0
    /// for none. They are given up when the direction turns.
    public var prefetchCount = 24 { didSet { scheduleUpdate() } }
    /// Whether cells keep their size whatever arrives, if their view is a `GtkPicture` for which width and height are requested: the picture
    /// is fitted into that box, and no list is laid out anew. True by default; looked at when a cell is bound for the first time.
    public var keepsCellSize = true

    private let url: URLProvider
    private var cells: [UnsafeMutableRawPointer: ListCell] = [:]
    private let prefetch = ListPrefetch()
    private var scroll = ListScroll()
    private var isUpdateScheduled = false
    /// The size in pixels at which cells show pictures. Columns that share a width differ by a pixel; their pictures must not.
    private var pixelSize: ImageSize?
    /// Whether cells show pictures over the whole of themselves.
    private var coversCells: Bool?

    /// - Parameter url: says which picture an item has.
    public init(url: @escaping URLProvider) { self.url = url }

    isolated deinit { for cell in cells.values { cell.end() } }

    // MARK: What factories tell

    /// A cell has got an item: shows its picture, or loads it. For the factory's signal `bind`.
    ///
    /// - Parameters:
    ///   - listItem: the `GtkListItem`.
    ///   - view: the `GtkPicture` or `GtkImage` in the cell; by default that of the call before or of ``connect(to:makeCell:)``, or the
    ///     list item's child.
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

    /// A cell has lost its item: cancels its load, and clears its view unless it is bound again before the next frame. For the factory's
    /// signal `unbind`.
    ///
    /// - Parameter listItem: the `GtkListItem`; one that was never bound is ignored.
    public func unbind(_ listItem: any GObjectPointer) {
        guard let cell = cells[listItem.gobjectPointer], cell.isBound else { return }
        // Before it is cancelled: work that somebody still waits for goes on.
        park(cell)
        cell.view?.cancelCurrentImageLoad(in: .of(context))
        cell.reset()
        scheduleUpdate()
    }

    /// A cell goes. For the factory's signal `teardown`; without it, the loader finds out when the list item is no more.
    ///
    /// - Parameter listItem: the `GtkListItem`; one that was never bound is ignored.
    public func teardown(_ listItem: any GObjectPointer) {
        unbind(listItem)
        guard let cell = cells.removeValue(forKey: listItem.gobjectPointer) else { return }
        clear(cell)
        cell.end()
    }

    /// Gives up what is loaded ahead, until the list is scrolled again or a cell is bound.
    public func cancelPrefetching() { prefetch.cancelAll() }

    /// URLs that are loaded ahead, for tests.
    var prefetchedURLs: Set<URL> { prefetch.urls }
    /// Cells that were set up or bound and have not gone, for tests.
    var cellCount: Int { cells.count }

    // MARK: Cells

    /// The cell of a list item, made if there is none or if it has another view by now.
    ///
    /// - Parameter view: nil for the one known, else the item's child.
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
        // What the cell showed before belongs to another item, so it is no placeholder.
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

    /// The size at which the cell's picture is decoded: the same for all cells that are as big but for a pixel.
    private func preferredPixelSize(of view: UnsafeMutableRawPointer, _ state: ViewState) -> ImageSize? {
        guard state.usesAutomaticThumbnailSize, let size = ViewGeometry.pixelSize(of: view) else { return nil }
        coversCells = ContentFit.of(view).needsBothSides
        if let known = pixelSize {
            // One that was never laid out will be as big as the others.
            if gtk_widget_get_width(view.widget) <= 0 { return known }
            if abs(known.width - size.width) <= 1, abs(known.height - size.height) <= 1 { return known }
        }
        pixelSize = size
        return size
    }

    /// Loads a picture for no cell.
    private func loadAhead(_ url: URL) -> WebImageLoadOperation {
        var context = context ?? WebImageContext()
        let manager = context.customManager ?? .shared
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

    /// A cell that is bound to nothing keeps no picture.
    private func clear(_ cell: ListCell) {
        guard cell.hasContent, !cell.isBound else { return }
        cell.hasContent = false
        cell.view.flatMap(ViewState.existing)?.clear(.of(context))
    }

    /// Keeps the load of a cell that is given up until it is known whether it is wanted.
    private func park(_ cell: ListCell) {
        guard let url = cell.url, cell.isLoading else { return }
        prefetch.add(url, start: { loadAhead($0) })
    }

    // MARK: What comes next

    /// Once for all that changes in a frame.
    private func scheduleUpdate() {
        guard !isUpdateScheduled else { return }
        isUpdateScheduled = true
        MainMailbox.shared.post { [weak self] in self?.update() }
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
