import CWebImageGTK4
import Glibc
import WebImage

/// The gestures on a scrolled window: Ctrl and the wheel, or a pinch, zooms; a drag pans; a double click switches between fit and actual
/// size.
@MainActor
struct ZoomGestures {
    private let scroller: WeakObject
    private let controllers: [ObjectReference]

    init(_ zoom: ZoomController, on scroller: UnsafeMutableRawPointer) {
        self.scroller = WeakObject(scroller)
        controllers = [Self.motion(zoom), Self.wheel(zoom), Self.pinch(zoom), Self.drag(zoom), Self.click(zoom)]
            .compactMap(\.self)
        for controller in controllers {
            // The widget takes ownership of one reference.
            gtk_widget_add_controller(scroller.widget, OpaquePointer(g_object_ref(controller.pointer)))
        }
    }

    /// Removes the gestures from the scrolled window, if it still exists.
    func remove() {
        guard let scroller = scroller.pointer else { return }
        for controller in controllers
        where gtk_event_controller_get_widget(controller.pointer.opaque) == scroller.widget {
            gtk_widget_remove_controller(scroller.widget, controller.pointer.opaque)
        }
    }

    /// The object that signals retain: the controller may end before the scrolled window.
    private final class Owner: Sendable {
        @MainActor weak var zoom: ZoomController?
        @MainActor init(_ zoom: ZoomController) { self.zoom = zoom }
    }

    private static func connect(
        _ object: UnsafeMutableRawPointer,
        _ name: String,
        _ zoom: ZoomController,
        _ call: GCallback
    ) {
        let release: GClosureNotify = { data, _ in if let data { Unmanaged<Owner>.fromOpaque(data).release() } }
        let owner = Unmanaged.passRetained(Owner(zoom)).toOpaque()
        g_signal_connect_data(object, name, call, owner, release, GConnectFlags(rawValue: 0))
    }

    private nonisolated static func call(_ data: UnsafeMutableRawPointer, _ body: @MainActor (ZoomController) -> Void) {
        nonisolated(unsafe) let data = data
        MainActor.assumeIsolated {
            if let zoom = Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue().zoom { body(zoom) }
        }
    }

    private static func made(_ controller: OpaquePointer?) -> ObjectReference? {
        controller.map { ObjectReference(adopting: UnsafeMutableRawPointer($0)) }
    }

    private static func motion(_ zoom: ZoomController) -> ObjectReference? {
        guard let motion = made(gtk_event_controller_motion_new()) else { return nil }
        let moved: @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void = { _, x, y, data in
            ZoomGestures.call(data) { $0.pointer = ImagePoint(x: x, y: y) }
        }
        let left: @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, data in
            ZoomGestures.call(data) { $0.pointer = nil }
        }
        connect(motion.pointer, "motion", zoom, unsafeBitCast(moved, to: GCallback.self))
        connect(motion.pointer, "leave", zoom, unsafeBitCast(left, to: GCallback.self))
        return motion
    }

    private static func wheel(_ zoom: ZoomController) -> ObjectReference? {
        guard let wheel = made(gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)) else {
            return nil
        }
        typealias Call = @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> gboolean
        let scrolled: Call = { controller, _, steps, data in
            guard gtk_event_controller_get_current_event_state(controller).rawValue & GDK_CONTROL_MASK.rawValue != 0
            else { return 0 }
            ZoomGestures.call(data) { $0.zoom(bySteps: -steps) }
            return 1
        }
        gtk_event_controller_set_propagation_phase(wheel.pointer.opaque, GTK_PHASE_CAPTURE)
        connect(wheel.pointer, "scroll", zoom, unsafeBitCast(scrolled, to: GCallback.self))
        return wheel
    }

    private static func pinch(_ zoom: ZoomController) -> ObjectReference? {
        guard let pinch = made(gtk_gesture_zoom_new()) else { return nil }
        typealias Call = @convention(c) (OpaquePointer, Double, UnsafeMutableRawPointer) -> Void
        let scaled: Call = { gesture, scale, data in
            var (x, y) = (0.0, 0.0)
            let hasCenter = gtk_gesture_get_bounding_box_center(gesture, &x, &y) != 0
            let center = hasCenter ? ImagePoint(x: x, y: y) : nil
            ZoomGestures.call(data) { $0.pinch(to: scale, about: center) }
        }
        let ended: @convention(c) (OpaquePointer, OpaquePointer?, UnsafeMutableRawPointer) -> Void = { _, _, data in
            ZoomGestures.call(data) { $0.pinchStart = nil }
        }
        connect(pinch.pointer, "scale-changed", zoom, unsafeBitCast(scaled, to: GCallback.self))
        connect(pinch.pointer, "end", zoom, unsafeBitCast(ended, to: GCallback.self))
        return pinch
    }

    private static func drag(_ zoom: ZoomController) -> ObjectReference? {
        guard let drag = made(gtk_gesture_drag_new()) else { return nil }
        typealias Call = @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> Void
        let began: Call = { _, _, _, data in ZoomGestures.call(data) { $0.panStart = $0.scroll } }
        let updated: Call = { _, x, y, data in ZoomGestures.call(data) { $0.pan(by: x, y) } }
        let ended: Call = { _, _, _, data in ZoomGestures.call(data) { $0.panStart = nil } }
        connect(drag.pointer, "drag-begin", zoom, unsafeBitCast(began, to: GCallback.self))
        connect(drag.pointer, "drag-update", zoom, unsafeBitCast(updated, to: GCallback.self))
        connect(drag.pointer, "drag-end", zoom, unsafeBitCast(ended, to: GCallback.self))
        return drag
    }

    private static func click(_ zoom: ZoomController) -> ObjectReference? {
        guard let click = made(gtk_gesture_click_new()) else { return nil }
        typealias Call = @convention(c) (OpaquePointer, gint, Double, Double, UnsafeMutableRawPointer) -> Void
        let pressed: Call = { _, count, _, _, data in
            if count == 2 { ZoomGestures.call(data) { $0.geometry.zoom == nil ? $0.setZoom(1) : $0.fit() } }
        }
        connect(click.pointer, "pressed", zoom, unsafeBitCast(pressed, to: GCallback.self))
        return click
    }
}

extension ZoomController {
    /// Zooms by scroll steps. Touchpads send fractions of a step, and also 0.
    func zoom(bySteps steps: Double) {
        guard steps != 0, steps.isFinite else { return }
        let factor = pow(ZoomGeometry.step, min(abs(steps), 10))
        // Steps in and out again end at the same zoom.
        setZoom(steps > 0 ? shownZoom * factor : shownZoom / factor)
    }

    /// Handles a pinch: the scale is relative to its start.
    func pinch(to scale: Double, about center: ImagePoint?) {
        let start = pinchStart ?? shownZoom
        pinchStart = start
        setZoom(start * scale, about: center)
    }

    /// Handles a drag: the distance is relative to its start.
    func pan(by x: Double, _ y: Double) {
        guard geometry.zoom != nil, let start = panStart else { return }
        scroll = ImagePoint(x: start.x - x, y: start.y - y)
    }
}
