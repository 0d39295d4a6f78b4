import CWebImageGTK4
import WebImage

/// The library's state of a view. Attached to the widget, and released with it.
@MainActor
final class ViewState {
    /// The number of instances, for tests: 0 when all views have been finalized.
    private(set) static var count = 0

    /// The view; valid as long as this state exists.
    nonisolated(unsafe) let view: UnsafeMutableRawPointer
    var slots: [ImageSlot: Slot] = [:]
    /// The slot of the latest call that set an image.
    var latestSlot: ImageSlot?
    var lastNumber = 0
    /// The image in the paintable that can be loaded again with more pixels.
    var shown: ShownLoad?
    var isResizing = false
    var transition: WebImageTransition?
    var indicator: (any WebImageIndicator)? { didSet { indicatorChanged(from: oldValue) } }
    /// The number of loads that show the indicator.
    var indicatorLoads = 0
    var usesAutomaticThumbnailSize = true
    /// The default decode size in pixels; nil for the view's own size.
    var preferredPixelSize: ImageSize?
    /// The priority of loads that add pixels; nil for the priority of the original load.
    var resizingPriority: LoadPriority? { didSet { resizingPriorityChanged() } }
    /// Features that only some views use, by name.
    var parts: [String: any ViewFeature] = [:]
    /// True once the view is being destroyed.
    private(set) var isEnded = false
    /// True if cancelled loads must leave nothing in the view.
    private(set) var isClearing = false

    private(set) lazy var clock = FrameClock(widget: view)
    /// The paintable; nil until it is needed.
    private(set) var existingPaintable: ImagePaintable?
    var paintable: ImagePaintable { existingPaintable ?? makePaintable() }

    private init(_ view: UnsafeMutableRawPointer) {
        self.view = view
        Self.count += 1
    }

    isolated deinit { Self.count -= 1 }

    private static let quark = g_quark_from_static_string("webimage-view")

    /// Returns the state of a view; nil if it has none.
    static func existing(_ view: UnsafeMutableRawPointer) -> ViewState? {
        guard let data = g_object_get_qdata(view.object, quark) else { return nil }
        return Unmanaged<ViewState>.fromOpaque(data).takeUnretainedValue()
    }

    /// Returns the state of a view, created and attached if needed.
    static func of(_ view: UnsafeMutableRawPointer) -> ViewState {
        if let state = existing(view) { return state }
        if let leaving, leaving.view == view { return leaving }
        precondition(view.isA(gtk_widget_get_type()), "not a GtkWidget")
        MainLoopIntegration.install()
        let state = ViewState(view)
        g_object_set_qdata_full(view.object, quark, Unmanaged.passRetained(state).toOpaque()) { data in
            guard let data else { return }
            nonisolated(unsafe) let dataPointer = data
            MainActor.assumeIsolated { Unmanaged<ViewState>.fromOpaque(dataPointer).takeRetainedValue().leave() }
        }
        // While the view is still valid: completions may access it.
        Signal("destroy", of: view) { [weak state] in state?.end() }
        // Since about GTK 4.10, a new scale factor does not cause a redraw, and the needed pixels are determined when the view is drawn.
        Signal("notify::scale-factor", of: view) { [weak state] in
            if let state { gtk_widget_queue_draw(state.view.widget) }
        }
        return state
    }

    /// The state whose view is being finalized. Completions called then may try to start a load, which is refused.
    private static var leaving: ViewState?
    var isLeaving: Bool { Self.leaving === self }

    private func leave() {
        let outer = Self.leaving
        Self.leaving = self
        end()
        Self.leaving = outer
    }

    /// Ends everything that is running, because the view is being destroyed.
    private func end() {
        isEnded = true
        for load in slots.values.flatMap(\.superseded) { load.cancel() }
        for slot in Array(slots.keys) { cancel(slot) }
        // Completions may have put operations there.
        for slot in Array(slots.keys) { cancelOperation(slot) }
        existingPaintable?.endTransition(finished: false)
        indicator = nil
        for part in parts.values { part.viewWillGo() }
        parts = [:]
        shown = nil
        for slot in Array(slots.keys) { change(slot) { $0.shown = nil } }
    }

    private func makePaintable() -> ImagePaintable {
        let paintable = ImagePaintable(view: view, clock: clock)
        paintable.sizeHandler = { [weak self] in self?.noteDrawn($0, $1) }
        paintable.contentHandler = { [weak self] in self?.contentChanged() }
        existingPaintable = paintable
        return paintable
    }

    /// Cancels the load of a slot; its completion is called before this returns.
    func cancel(_ slot: ImageSlot) {
        cancelOperation(slot)
        guard let load = slots[slot]?.load else { return }
        change(slot) { $0.load = nil }
        load.cancel()
    }

    private func cancelOperation(_ slot: ImageSlot) {
        guard let operation = slots[slot]?.operation else { return }
        change(slot) { $0.operation = nil }
        operation.cancel()
    }

    /// Cancels the load of a slot for another one. Loads that its completion starts in the slot would be cancelled at once, and are not
    /// started.
    func vacate(_ slot: ImageSlot) {
        slots[slot, default: Slot()].isVacating = true
        cancel(slot)
        slots[slot]?.isVacating = false
    }

    /// Clears the view and forgets how its content was loaded.
    func clearContent() {
        shown = nil
        tiledImage?.close()
        existingPaintable?.show(nil)
    }

    /// Cancels and clears a slot of the paintable: the view is going to be reused.
    func clear(_ slot: ImageSlot) {
        isClearing = true
        cancel(slot)
        isClearing = false
        if slots[slot] != nil { change(slot) { $0.loadState = nil } }
        clearContent()
    }

    /// Keeps the view alive until the returned value is ended.
    func keepView() -> RetainedView { RetainedView(view) }
}

/// Keeps a view alive during callbacks that may release it. A floating reference stays floating.
@MainActor
struct RetainedView {
    private let view: UnsafeMutableRawPointer

    fileprivate init(_ view: UnsafeMutableRawPointer) {
        self.view = view
        g_object_ref(view)
    }

    /// Releases the view, which may finalize it.
    func end() { g_object_unref(view) }
}

/// A feature of a view that only some views use.
@MainActor
protocol ViewFeature: AnyObject {
    /// Ends everything that is running, because the view is being destroyed.
    func viewWillGo()
}
