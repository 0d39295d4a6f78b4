import CWebImageGTK4
import Glibc
import WebImage
import WebImageGTK

extension ViewerPage {
    /// Adds the gestures: Ctrl and the wheel, or a pinch, zooms; a drag pans; a double click toggles between fit and actual size.
    func addGestures() {
        addMotion()
        addWheel()
        addPinch()
        addDrag()
        addClick()
    }

    private func connect(_ object: OpaquePointer, _ name: String, _ call: GCallback) {
        let owner = Unmanaged.passUnretained(self).toOpaque()
        g_signal_connect_data(UnsafeMutableRawPointer(object), name, call, owner, nil, GConnectFlags(rawValue: 0))
    }

    private nonisolated static func call(_ owner: UnsafeMutableRawPointer, _ body: @MainActor (ViewerPage) -> Void) {
        nonisolated(unsafe) let owner = owner
        MainActor.assumeIsolated { body(Unmanaged<ViewerPage>.fromOpaque(owner).takeUnretainedValue()) }
    }

    private func addMotion() {
        guard let motion = gtk_event_controller_motion_new() else { return }
        let moved: @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void = { _, x, y, owner in
            ViewerPage.call(owner) { $0.pointer = ImagePoint(x: x, y: y) }
        }
        let left: @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, owner in
            ViewerPage.call(owner) { $0.pointer = nil }
        }
        connect(motion, "motion", unsafeBitCast(moved, to: GCallback.self))
        connect(motion, "leave", unsafeBitCast(left, to: GCallback.self))
        gtk_widget_add_controller(scroller, motion)
    }

    private func addWheel() {
        guard let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL) else { return }
        typealias Call = @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> gboolean
        let scrolled: Call = { controller, _, steps, owner in
            guard gtk_event_controller_get_current_event_state(controller).rawValue & GDK_CONTROL_MASK.rawValue != 0
            else { return 0 }
            ViewerPage.call(owner) { $0.zoom(bySteps: -steps) }
            return 1
        }
        gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE)
        connect(wheel, "scroll", unsafeBitCast(scrolled, to: GCallback.self))
        gtk_widget_add_controller(scroller, wheel)
    }

    /// Zooms by scroll steps. Touchpads send fractions of a step, and also 0.
    func zoom(bySteps steps: Double) {
        guard steps != 0, steps.isFinite else { return }
        setZoom(geometry.shownZoom * pow(ZoomGeometry.step, min(max(steps, -10), 10)))
    }

    private func addPinch() {
        guard let pinch = gtk_gesture_zoom_new() else { return }
        typealias Call = @convention(c) (OpaquePointer, Double, UnsafeMutableRawPointer) -> Void
        let scaled: Call = { gesture, scale, owner in
            var (x, y) = (0.0, 0.0)
            let hasCenter = gtk_gesture_get_bounding_box_center(gesture, &x, &y) != 0
            let center = hasCenter ? ImagePoint(x: x, y: y) : nil
            ViewerPage.call(owner) { $0.pinch(to: scale, about: center) }
        }
        let ended: @convention(c) (OpaquePointer, OpaquePointer?, UnsafeMutableRawPointer) -> Void = { _, _, owner in
            ViewerPage.call(owner) { $0.pinchStart = nil }
        }
        connect(pinch, "scale-changed", unsafeBitCast(scaled, to: GCallback.self))
        connect(pinch, "end", unsafeBitCast(ended, to: GCallback.self))
        gtk_widget_add_controller(scroller, pinch)
    }

    /// Handles a pinch: the scale is relative to its start.
    func pinch(to scale: Double, about center: ImagePoint?) {
        let start = pinchStart ?? geometry.shownZoom
        pinchStart = start
        setZoom(start * scale, about: center)
    }

    private func addDrag() {
        guard let drag = gtk_gesture_drag_new() else { return }
        typealias Call = @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void
        let began: Call = { _, _, _, owner in ViewerPage.call(owner) { $0.panStart = $0.scroll } }
        let updated: Call = { _, x, y, owner in ViewerPage.call(owner) { $0.pan(by: x, y) } }
        let ended: Call = { _, _, _, owner in ViewerPage.call(owner) { $0.panStart = nil } }
        connect(drag, "drag-begin", unsafeBitCast(began, to: GCallback.self))
        connect(drag, "drag-update", unsafeBitCast(updated, to: GCallback.self))
        connect(drag, "drag-end", unsafeBitCast(ended, to: GCallback.self))
        gtk_widget_add_controller(scroller, drag)
    }

    private func pan(by x: Double, _ y: Double) {
        guard geometry.zoom != nil, let start = panStart else { return }
        scroll = ImagePoint(x: start.x - x, y: start.y - y)
    }

    private func addClick() {
        guard let click = gtk_gesture_click_new() else { return }
        typealias Call = @convention(c) (OpaquePointer, gint, Double, Double, UnsafeMutableRawPointer) -> Void
        let pressed: Call = { _, count, _, _, owner in
            if count == 2 { ViewerPage.call(owner) { $0.geometry.zoom == nil ? $0.showPixels() : $0.fit() } }
        }
        connect(click, "pressed", unsafeBitCast(pressed, to: GCallback.self))
        gtk_widget_add_controller(scroller, click)
    }
}
