import CWebImageGTK4
import WebImage

/// Zooms the image of a `GtkPicture` that is the child of a `GtkScrolledWindow`.
///
/// A zoomed picture has the size of the zoomed image, so scrollbars, touchpads and kinetic scrolling work as for any content.
@MainActor
final class ZoomController: ViewFeature {
    /// The zoom and position of the image.
    private(set) var geometry = ZoomGeometry()
    /// The scroll position at the start of a drag.
    var panStart: ImagePoint?
    /// The zoom at the start of a pinch.
    var pinchStart: Double?
    /// The pointer position in the scrolled window; nil if the pointer is elsewhere.
    var pointer: ImagePoint?
    /// Called when the zoom has changed.
    var zoomHandler: (@MainActor () -> Void)?

    private weak var state: ViewState?
    private var scrolledWindow: WeakObject?
    private var gestures: ZoomGestures?
    private var signals: [Signal] = []

    init(_ state: ViewState) {
        self.state = state
        Signal("map", of: state.view) { [weak self] in self?.attach() }
        attach()
        contentChanged()
    }

    func viewWillGo() {
        detach()
        zoomHandler = nil
    }

    /// The scrolled window of the picture; nil if it has no such parent.
    var scroller: UnsafeMutableRawPointer? { scrolledWindow?.pointer }

    private var picture: UnsafeMutableRawPointer? {
        guard let state, !state.isEnded else { return nil }
        return state.view
    }

    // MARK: Scrolled window

    private func attach() {
        guard let picture, picture.isA(gtk_picture_get_type()) else { return }
        let found = Self.scroller(of: picture)
        guard found != scroller else { return }
        detach()
        guard let found else { return }
        scrolledWindow = WeakObject(found)
        gestures = ZoomGestures(self, on: found)
        signals = ["notify::scale-factor", "map"].map { Signal($0, of: found) { [weak self] in self?.update() } }
        update()
    }

    /// Returns the scrolled window that a picture is the child of; nil if it has another parent.
    private static func scroller(of picture: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        guard let parent = gtk_widget_get_parent(picture.widget),
            UnsafeMutableRawPointer(parent).isA(gtk_viewport_get_type()), let outer = gtk_widget_get_parent(parent),
            case let found = UnsafeMutableRawPointer(outer), found.isA(gtk_scrolled_window_get_type())
        else { return nil }
        return found
    }

    private func detach() {
        for signal in signals { signal.disconnect() }
        signals = []
        gestures?.remove()
        (gestures, scrolledWindow) = (nil, nil)
    }

    // MARK: Zoom

    /// Takes the size of a new image.
    func contentChanged() {
        guard let image = state?.existingPaintable?.content?.image else { return }
        let size = image.uprightSourceSize
        guard geometry.image != size else { return }
        geometry.image = size
        update()
    }

    /// Keeps the zoom within its limits, which depend on whether the image has tiles.
    func limitsChanged() {
        guard let zoom = geometry.zoom else { return }
        setZoom(zoom)
    }

    /// Fits the next image, whose size is not known yet.
    func reset() {
        geometry.image = ImageSize(width: 0, height: 0)
        fit()
    }

    /// Fits the image into the area.
    func fit() {
        geometry.fit()
        update()
    }

    /// Sets the zoom: device pixels per image pixel. The point under the pointer stays in place.
    ///
    /// - Parameter place: a fixed point in the scrolled window to use in place of the pointer.
    func setZoom(_ wanted: Double, about place: ImagePoint? = nil) {
        guard scroller != nil else { return }
        geometry = geometryNow
        guard let target = geometry.setZoom(wanted, about: place ?? pointer, from: scroll) else { return }
        // A drag in progress, as in a double click, would otherwise jump back to its start.
        panStart = nil
        showZoomed()
        // The adjustments get their new range only with the next layout, so it is set here first.
        let content = geometry.content
        for (adjustment, size, value) in [
            (horizontal, content.width, target.x), (vertical, content.height, target.y),
        ] {
            guard let adjustment else { continue }
            gtk_adjustment_set_upper(adjustment, max(size, gtk_adjustment_get_page_size(adjustment)))
            gtk_adjustment_set_value(adjustment, value)
        }
        zoomHandler?()
    }

    /// The zoom with the current sizes: device pixels per image pixel.
    var shownZoom: Double { geometryNow.shownZoom }

    /// The geometry with the current sizes.
    private var geometryNow: ZoomGeometry {
        var geometry = geometry
        guard let scroller else { return geometry }
        geometry.view = ImageSize(
            width: Double(gtk_widget_get_width(scroller.widget)),
            height: Double(gtk_widget_get_height(scroller.widget))
        )
        geometry.scaleFactor = Double(gtk_widget_get_scale_factor(scroller.widget))
        geometry.maximumSide =
            state?.tiledImage?.isWanted == true ? ZoomGeometry.maximumTiledSide : ZoomGeometry.maximumTextureSide
        return geometry
    }

    /// Updates the layout after the image size or the scale factor has changed.
    private func update() {
        guard scroller != nil else { return }
        geometry = geometryNow
        if geometry.zoom == nil { showFitting() } else { showZoomed() }
        zoomHandler?()
    }

    private func showFitting() {
        guard let picture, let scroller else { return }
        place(picture, expands: true, GTK_ALIGN_FILL, width: -1, height: -1)
        gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_SCALE_DOWN)
        gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_EXTERNAL, GTK_POLICY_EXTERNAL)
        gtk_widget_set_cursor(scroller.widget, nil)
    }

    private func showZoomed() {
        guard let picture, let scroller else { return }
        let content = geometry.content
        gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_CONTAIN)
        place(picture, expands: false, GTK_ALIGN_CENTER, width: Int32(content.width), height: Int32(content.height))
        gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC)
        let isBigger = content.width > geometry.view.width || content.height > geometry.view.height
        gtk_widget_set_cursor_from_name(scroller.widget, isBigger ? "grab" : nil)
    }

    private func place(
        _ picture: UnsafeMutableRawPointer,
        expands: Bool,
        _ align: GtkAlign,
        width: Int32,
        height: Int32
    ) {
        gtk_widget_set_hexpand(picture.widget, expands ? 1 : 0)
        gtk_widget_set_vexpand(picture.widget, expands ? 1 : 0)
        gtk_widget_set_halign(picture.widget, align)
        gtk_widget_set_valign(picture.widget, align)
        gtk_widget_set_size_request(picture.widget, width, height)
    }

    // MARK: Scrolling

    private var horizontal: UnsafeMutablePointer<GtkAdjustment>? {
        scroller.flatMap { gtk_scrolled_window_get_hadjustment($0.opaque) }
    }
    private var vertical: UnsafeMutablePointer<GtkAdjustment>? {
        scroller.flatMap { gtk_scrolled_window_get_vadjustment($0.opaque) }
    }

    /// The scroll position in points.
    var scroll: ImagePoint {
        get {
            ImagePoint(x: horizontal.map(gtk_adjustment_get_value) ?? 0, y: vertical.map(gtk_adjustment_get_value) ?? 0)
        }
        set {
            if let horizontal { gtk_adjustment_set_value(horizontal, newValue.x) }
            if let vertical { gtk_adjustment_set_value(vertical, newValue.y) }
        }
    }
}

extension ViewState {
    private static let zoomKey = "zoom"

    /// The controller that zooms the view; nil until a zoomable image is set or a ``ZoomableImageView`` is created.
    var zoom: ZoomController? { parts[Self.zoomKey] as? ZoomController }

    /// Returns the view's controller, created if needed.
    func makeZoom() -> ZoomController {
        if let zoom { return zoom }
        let part = ZoomController(self)
        parts[Self.zoomKey] = part
        return part
    }
}
