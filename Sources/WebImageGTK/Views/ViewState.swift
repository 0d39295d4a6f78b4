import CWebImageGTK4
import WebImage

/// What the library knows of a view. Lies with the object, and goes with it.
@MainActor
final class ViewState {
    /// How many there are, for tests: 0 when all views have gone.
    private(set) static var count = 0

    /// The view; valid as long as this is.
    nonisolated(unsafe) let view: UnsafeMutableRawPointer
    var slots: [ImageSlot: Slot] = [:]
    /// The slot of the latest call that set an image.
    var latestSlot: ImageSlot?
    var lastNumber = 0
    /// What the paintable shows, and what can be loaded again with more pixels.
    var shown: ShownLoad?
    var isResizing = false
    var transition: WebImageTransition?
    var indicator: (any WebImageIndicator)? { didSet { indicatorChanged(from: oldValue) } }
    /// Loads that show the indicator.
    var indicatorLoads = 0
    var usesAutomaticThumbnailSize = true
    /// The size in pixels at which pictures are decoded by default, if it is not to be the view's own.
    var preferredPixelSize: ImageSize?
    /// How urgent more pixels are; nil for as urgent as the picture was.
    var resizingPriority: LoadPriority? { didSet { resizingPriorityChanged() } }
    /// What the view can do that was made for one kind of it; by name.
    var parts: [String: any ViewPart] = [:]
    /// Whether the view is being destroyed.
    private(set) var isEnded = false
    /// Whether what is given up is to leave nothing in the view.
    private(set) var isClearing = false

    private(set) lazy var clock = FrameClock(widget: view)
    /// The paintable, if there is one yet.
    private(set) var existingPaintable: ImagePaintable?
    var paintable: ImagePaintable { existingPaintable ?? makePaintable() }

    private init(_ view: UnsafeMutableRawPointer) {
        self.view = view
        Self.count += 1
    }

    isolated deinit { Self.count -= 1 }

    private static let quark = g_quark_from_static_string("webimage-view")

    /// What is known of a view; nil if nothing is.
    static func existing(_ view: UnsafeMutableRawPointer) -> ViewState? {
        guard let data = g_object_get_qdata(view.object, quark) else { return nil }
        return Unmanaged<ViewState>.fromOpaque(data).takeUnretainedValue()
    }

    /// What is known of a view, from now on kept with it.
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
        // While it is still whole: completions may look at it.
        Signal("destroy", of: view) { [weak state] in state?.end() }
        // Since GTK 4.10 or so this alone has nothing drawn again, and that is when it is seen how many pixels are needed.
        Signal("notify::scale-factor", of: view) { [weak state] in
            if let state { gtk_widget_queue_draw(state.view.widget) }
        }
        return state
    }

    /// The state whose view is being finalized: a completion that is told of the end may want to load again, and must not.
    private static var leaving: ViewState?
    var isLeaving: Bool { Self.leaving === self }

    private func leave() {
        let outer = Self.leaving
        Self.leaving = self
        end()
        Self.leaving = outer
    }

    /// Ends what runs: the view goes.
    private func end() {
        isEnded = true
        for load in slots.values.flatMap(\.superseded) { load.cancel() }
        for slot in Array(slots.keys) { cancel(slot) }
        // Completions may have put others there.
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

    /// Gives up the load of a slot; its completion is called before this returns.
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

    /// Gives up the load of a slot for another. What the completion of the former begins there would be given up at once, and is not begun.
    func vacate(_ slot: ImageSlot) {
        slots[slot, default: Slot()].isVacating = true
        cancel(slot)
        slots[slot]?.isVacating = false
    }

    /// Shows nothing, and forgets what was shown.
    func clearContent() {
        shown = nil
        existingPaintable?.show(nil)
    }

    /// Gives up a slot of the paintable, and what it has loaded: the view waits for another purpose.
    func clear(_ slot: ImageSlot) {
        isClearing = true
        cancel(slot)
        isClearing = false
        if slots[slot] != nil { change(slot) { $0.loadState = nil } }
        clearContent()
    }

    /// Keeps the view until the end of what is returned.
    func keepView() -> KeptView { KeptView(view) }
}

/// A view that stays while somebody is called who may let go of it. One that nobody has taken yet goes on floating.
@MainActor
struct KeptView {
    private let view: UnsafeMutableRawPointer

    fileprivate init(_ view: UnsafeMutableRawPointer) {
        self.view = view
        g_object_ref(view)
    }

    /// Lets go of it, which may be its end.
    func end() { g_object_unref(view) }
}

/// What a view of one kind has beside the rest.
@MainActor
protocol ViewPart: AnyObject {
    /// The view goes: what runs has to end.
    func viewWillGo()
}
