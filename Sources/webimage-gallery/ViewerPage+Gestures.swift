import CWebImageGTK4
import WebImage
import WebImageGTK

extension ViewerPage {
    /// Ctrl and the wheel change the size, dragging moves the picture, a double click changes between the window's size and the
    /// picture's.
    func addGestures() {
        let owner = Unmanaged.passUnretained(self).toOpaque()
        func connect(_ object: OpaquePointer?, _ name: String, _ call: GCallback) {
            guard let object else { return }
            g_signal_connect_data(UnsafeMutableRawPointer(object), name, call, owner, nil, GConnectFlags(rawValue: 0))
        }
        let motion = gtk_event_controller_motion_new()
        let moved: @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void = { _, x, y, owner in
            ViewerPage.call(owner) { $0.pointer = ImagePoint(x: x, y: y) }
        }
        connect(motion, "motion", unsafeBitCast(moved, to: GCallback.self))
        gtk_widget_add_controller(scroller, motion)

        let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)
        let scrolled: @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> gboolean = {
            controller,
            _,
            steps,
            owner in
            guard gtk_event_controller_get_current_event_state(controller).rawValue & GDK_CONTROL_MASK.rawValue != 0
            else { return 0 }
            ViewerPage.call(owner) { steps < 0 ? $0.zoomIn() : $0.zoomOut() }
            return 1
        }
        gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE)
        connect(wheel, "scroll", unsafeBitCast(scrolled, to: GCallback.self))
        gtk_widget_add_controller(scroller, wheel)

        let drag = gtk_gesture_drag_new()
        let began: @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void = { _, _, _, owner in
            ViewerPage.call(owner) { $0.beginPanning() }
        }
        let updated: @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void = {
            _,
            x,
            y,
            owner in
            ViewerPage.call(owner) { $0.pan(by: x, y) }
        }
        connect(drag, "drag-begin", unsafeBitCast(began, to: GCallback.self))
        connect(drag, "drag-update", unsafeBitCast(updated, to: GCallback.self))
        gtk_widget_add_controller(scroller, drag)

        let click = gtk_gesture_click_new()
        let pressed: @convention(c) (OpaquePointer, gint, Double, Double, UnsafeMutableRawPointer) -> Void = {
            _,
            count,
            _,
            _,
            owner in
            if count == 2 { ViewerPage.call(owner) { $0.zoom == nil ? $0.showPixels() : $0.fit() } }
        }
        connect(click, "pressed", unsafeBitCast(pressed, to: GCallback.self))
        gtk_widget_add_controller(scroller, click)
    }

    private nonisolated static func call(_ owner: UnsafeMutableRawPointer, _ body: @MainActor (ViewerPage) -> Void) {
        nonisolated(unsafe) let owner = owner
        MainActor.assumeIsolated { body(Unmanaged<ViewerPage>.fromOpaque(owner).takeUnretainedValue()) }
    }

    private func beginPanning() { panStart = ScrollPosition(scroller) }

    private func pan(by x: Double, _ y: Double) {
        guard zoom != nil, let start = panStart else { return }
        ScrollPosition(x: start.x - x, y: start.y - y).apply(to: scroller)
    }
}

/// How far an area is scrolled, in points.
@MainActor
struct ScrollPosition {
    var x: Double
    var y: Double

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    init(_ scroller: Widget) {
        x = gtk_adjustment_get_value(gtk_scrolled_window_get_hadjustment(scroller.opaque))
        y = gtk_adjustment_get_value(gtk_scrolled_window_get_vadjustment(scroller.opaque))
    }

    func apply(to scroller: Widget) {
        gtk_adjustment_set_value(gtk_scrolled_window_get_hadjustment(scroller.opaque), x)
        gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(scroller.opaque), y)
    }
}

/// The place of a picture that stays where it is on the screen when the picture's size changes.
@MainActor
struct ZoomAnchor {
    private let target: ScrollPosition

    /// - Parameters:
    ///   - pointer: the place; the middle if nil.
    ///   - ratio: how much bigger the picture becomes.
    init(_ scroller: Widget, _ pointer: ImagePoint?, ratio: Double) {
        let place =
            pointer
            ?? ImagePoint(
                x: Double(gtk_widget_get_width(scroller)) / 2,
                y: Double(gtk_widget_get_height(scroller)) / 2
            )
        let position = ScrollPosition(scroller)
        target = ScrollPosition(
            x: (position.x + place.x) * ratio - place.x,
            y: (position.y + place.y) * ratio - place.y
        )
    }

    /// Scrolls there once the area has its new size: until then it cannot be scrolled so far.
    func apply(to scroller: Widget) {
        let target = target
        for adjustment in [
            gtk_scrolled_window_get_hadjustment(scroller.opaque), gtk_scrolled_window_get_vadjustment(scroller.opaque),
        ] {
            guard let adjustment else { continue }
            AdjustmentWait.once(adjustment) { target.apply(to: scroller) }
        }
    }
}

/// Waits for the next change of the range of an adjustment.
@MainActor
private final class AdjustmentWait {
    private var signal: Signal?

    static func once(_ adjustment: UnsafeMutablePointer<GtkAdjustment>, _ body: @escaping () -> Void) {
        let wait = AdjustmentWait()
        wait.signal = Signal("changed", of: UnsafeMutableRawPointer(adjustment)) {
            body()
            wait.signal?.disconnect()
            wait.signal = nil
        }
    }
}
