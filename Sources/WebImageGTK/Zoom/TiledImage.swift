import CWebImageGTK4
import FoundationEssentials
import WebImage

/// The tiles of a view's zoomable image: made when the image has more pixels than a texture may have, and drawn when the screen can show
/// more pixels than the view's image has.
@MainActor
final class TiledImage: ViewFeature {
    private weak var state: ViewState?
    /// The number of the load whose image is in tiles; nil for none.
    private var loadNumber: Int?
    private var content: TiledContent?
    /// Returns the source of the tiles. Called when the image is zoomed, and not before: the image may have to be downloaded again.
    private var opener: (@Sendable () async -> TileSource?)?
    private var opening: Task<Void, Never>?
    private var scrolling: [Signal] = []
    /// The scrolled window whose adjustments are observed.
    private var scroller: WeakObject?
    /// The view's own image or frame, if it is too big for a texture, in several of them.
    private var parts: (image: Image, content: TiledContent)?

    init(_ state: ViewState) {
        self.state = state
        Signal("unmap", of: state.view) { [weak self] in
            self?.content?.store.clear()
            self?.parts = nil
        }
        state.paintable.tiles = { [weak self] in self?.draw(into: $0, $1, $2) ?? false }
    }

    func viewWillGo() {
        close()
        for signal in scrolling { signal.disconnect() }
        scrolling = []
        state?.existingPaintable?.tiles = nil
    }

    /// The tiles, once their source is open.
    var store: TileStore? { content?.store }
    /// The parts of the view's own image, if it is too big for a texture.
    var partStore: TileStore? { parts?.content.store }

    /// True if the visible image is drawn in tiles or will be.
    var isWanted: Bool { provides(state?.shown) }

    /// Returns whether an image gets more pixels from tiles, rather than from a load for a bigger size.
    func provides(_ shown: ShownLoad?) -> Bool {
        shown != nil && shown?.load.number == loadNumber
            && (content != nil || opening != nil || opener != nil)
    }

    /// Releases the tiles.
    func close() {
        opening?.cancel()
        (opener, opening, content, loadNumber, parts) = (nil, nil, nil, nil, nil)
    }

    /// Draws the image that the view shows in tiles once it is zoomed, if it is to be drawn in tiles.
    func open(_ loaded: WebImageResult, _ url: URL, _ options: WebImageOptions, _ context: WebImageContext?) {
        let manager = context?.customManager ?? .shared
        // The processor may select another page or loader.
        let result = manager.optionsProcessor?.process(url, options: options, context: context ?? WebImageContext())
        let processed = result?.context ?? context
        guard TileSource.suits(loaded.image, manager, processed) else { return close() }
        let hash = loaded.image.metadata.knownSourceHash
        open(loaded.image) {
            await TileSource.open(url, madeOf: hash, manager, options, context, processed: processed)
        }
    }

    /// Draws the image that the view shows in tiles once it is zoomed.
    ///
    /// - Parameter source: returns the source; nil if the image cannot be read in parts.
    func open(_ image: Image, _ source: @escaping @Sendable () async -> TileSource?) {
        close()
        guard let shown = state?.shown, shown.image === image else { return }
        loadNumber = shown.load.number
        opener = source
    }

    private func beginOpening() {
        guard let image = state?.shown?.image, let number = loadNumber, let source = opener.take() else { return }
        let size = image.uprightSourceSize
        let deliver: @Sendable (TileSource?) -> Void = { [weak self] source in
            MainLoopQueue.shared.post { self?.take(source, of: size, number) }
        }
        // Not on the main actor, whose executor may not run.
        opening = Task.detached(priority: .userInitiated) {
            let opened = await source()
            if !Task.isCancelled { deliver(opened) }
        }
    }

    private func take(_ source: TileSource?, of size: ImageSize, _ number: Int) {
        // Closed in between.
        guard number == loadNumber, opening?.isCancelled == false else { return }
        opening = nil
        // A file may have changed since.
        if let source, source.grid.size == size {
            let store = TileStore(source)
            store.arrivalHandler = { [weak self] in self?.state?.existingPaintable?.invalidate() }
            store.failureHandler = { [weak self] in
                self?.close()
                self?.tilesChanged()
            }
            content = TiledContent(store)
        }
        tilesChanged()
    }

    /// Draws the image with the tiles that there are now. Without tiles, it is loaded again for a bigger size when it is drawn, and its zoom
    /// has a smaller limit.
    private func tilesChanged() {
        if content == nil { state?.zoom?.limitsChanged() }
        state?.existingPaintable?.invalidate()
    }

    // MARK: Drawing

    /// Draws the image in tiles if it has too few pixels without them, or else in parts if it is too big for a texture. Returns false if it is
    /// not drawn.
    private func draw(into snapshot: OpaquePointer, _ width: Double, _ height: Double) -> Bool {
        guard let state, let shown = state.shown, let image = state.paintable.fillingImage else { return false }
        let scale = ViewGeometry.deviceScale(of: state.view)
        let drawn = ImageSize(width: width * scale, height: height * scale)
        watchScrolling()
        let isEnlarged =
            state.paintable.showsStillContent
            && (drawn.width > Double(shown.image.pixelWidth) + 1 || drawn.height > Double(shown.image.pixelHeight) + 1)
        if !isEnlarged || !provides(shown) { content?.store.load([]) }
        guard let place = ViewGeometry.visiblePlace(of: state, width, height, scale: scale) else { return false }
        var viewport = TileViewport(drawn: drawn, visible: place.visible.scaled(by: scale))
        if let pointer = state.zoom?.pointer {
            viewport.pointer = ImagePoint(
                x: viewport.visible.x + pointer.x * scale,
                y: viewport.visible.y + pointer.y * scale
            )
        }
        let size = ImageSize(width: width, height: height)
        func edges(_ image: ImageSize) -> TileEdges {
            TileEdges(image: image, drawn: size, scale: scale, phase: place.phase)
        }
        /// Draws the view's own image, or its frame.
        func drawParts() -> Bool {
            guard let parts = self.parts(of: image) else { return false }
            let grid = parts.store.source.grid
            parts.draw(into: snapshot, at: edges(grid.size), viewport, isOpaque: !image.hasAlpha) {}
            return true
        }
        guard isEnlarged, provides(shown) else { return drawParts() }
        guard let content else {
            // Not while GTK draws.
            if opener != nil { MainLoopQueue.shared.post { [weak self] in self?.beginOpening() } }
            return drawParts()
        }
        content.draw(
            into: snapshot,
            at: edges(shown.image.uprightSourceSize),
            viewport,
            isOpaque: !shown.image.hasAlpha,
            base: { if !drawParts() { state.paintable.drawVisible(into: snapshot, width, height) } }
        )
        return true
    }

    /// Returns the parts of the view's own image; nil if one texture will do.
    private func parts(of image: Image) -> TiledContent? {
        if let parts, parts.image === image { return parts.content }
        parts = TileSource(image).map { (image, TiledContent(TileStore($0))) }
        return parts?.content
    }

    /// Draws again whenever the view scrolls: only the tiles to see are drawn.
    private func watchScrolling() {
        guard let state, let found = ViewGeometry.scroller(of: state.view), found != scroller?.pointer else { return }
        for signal in scrolling { signal.disconnect() }
        scroller = WeakObject(found)
        let adjustments = [
            gtk_scrolled_window_get_hadjustment(found.opaque), gtk_scrolled_window_get_vadjustment(found.opaque),
        ]
        scrolling = adjustments.compactMap(\.self).map { adjustment in
            Signal("value-changed", of: UnsafeMutableRawPointer(adjustment)) { [weak self] in
                guard let self, content != nil || parts != nil else { return }
                self.state?.existingPaintable?.invalidate()
            }
        }
    }
}

extension ViewState {
    private static let tilesKey = "tiles"

    /// The tiles of the view's zoomable image; nil until one is set.
    var tiledImage: TiledImage? { parts[Self.tilesKey] as? TiledImage }

    /// Returns the view's tiles, created if needed.
    func makeTiledImage() -> TiledImage {
        if let tiledImage { return tiledImage }
        let part = TiledImage(self)
        parts[Self.tilesKey] = part
        return part
    }
}

extension ViewGeometry {
    /// The place of the visible part of an image, in points relative to the image's top left corner.
    struct VisiblePlace {
        let visible: ImageRect
        /// See ``TileEdges/phase``.
        let phase: ImagePoint
    }

    /// Device pixels per point; a fraction on some displays.
    static func deviceScale(of view: UnsafeMutableRawPointer) -> Double { webimage_gtk_get_device_scale(view.widget) }

    /// The innermost scrolled window around a view.
    static func scroller(of view: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        gtk_widget_get_ancestor(view.widget, gtk_scrolled_window_get_type()).map { UnsafeMutableRawPointer($0) }
    }

    /// Returns the part of a view's content that is inside the view, its scrolled window and its window; nil if there is none.
    static func visiblePlace(of state: ViewState, _ width: Double, _ height: Double, scale: Double) -> VisiblePlace? {
        let view = state.view
        let area = ViewPlace(view, drawing: state.paintable.content, width, height).view
        var visible = ImageRect(x: 0, y: 0, width: width, height: height).intersection(area)
        let native = gtk_widget_get_native(view.widget).map { UnsafeMutableRawPointer($0) }
        for outer in [scroller(of: view), native].compactMap(\.self) {
            guard let place = place(of: view, in: outer) else { return nil }
            let seen = ImageRect(
                x: area.x - place.x,
                y: area.y - place.y,
                width: Double(gtk_widget_get_width(outer.widget)),
                height: Double(gtk_widget_get_height(outer.widget))
            )
            visible = visible?.intersection(seen)
        }
        guard let visible, let native, let place = place(of: view, in: native) else { return nil }
        var frame = (x: 0.0, y: 0.0)
        gtk_native_get_surface_transform(native.opaque, &frame.x, &frame.y)
        /// A position that is off by less than a float's precision is at a device pixel.
        func phase(_ position: Double) -> Double {
            let pixels = position * scale
            let part = pixels - pixels.rounded(.down)
            return part < 0.05 || part > 0.95 ? 0 : part
        }
        return VisiblePlace(
            visible: visible,
            phase: ImagePoint(x: phase(frame.x + place.x - area.x), y: phase(frame.y + place.y - area.y))
        )
    }

    /// The position of a view's top left corner in an ancestor.
    private static func place(of view: UnsafeMutableRawPointer, in outer: UnsafeMutableRawPointer) -> ImagePoint? {
        var (corner, place) = (graphene_point_t(x: 0, y: 0), graphene_point_t())
        guard gtk_widget_compute_point(view.widget, outer.widget, &corner, &place) != 0 else { return nil }
        return ImagePoint(x: Double(place.x), y: Double(place.y))
    }
}

extension ImageRect {
    fileprivate func scaled(by scale: Double) -> ImageRect {
        ImageRect(x: x * scale, y: y * scale, width: width * scale, height: height * scale)
    }
}
