import CWebImageGTK4

/// Calls back before each frame that a widget is drawn in, as long as somebody wants that and the widget is mapped: GTK's own callbacks go on
/// for widgets on hidden pages.
@MainActor
final class FrameClock {
    /// Takes the time of the frame in seconds; readings never go back.
    typealias Tick = @MainActor (_ seconds: Double) -> Void

    private let widget: WeakObject
    private var listeners: [(id: Int, tick: Tick)] = []
    private var lastID = 0
    private var callback: guint = 0

    /// - Parameter widget: which frames it is about; not kept.
    init(widget: UnsafeMutableRawPointer) {
        self.widget = WeakObject(widget)
        Signal("map", of: widget) { [weak self] in self?.update() }
        Signal("unmap", of: widget) { [weak self] in self?.update() }
    }

    isolated deinit { stop() }

    /// Begins to call `tick` before each frame.
    ///
    /// - Returns: what ``remove(_:)`` takes.
    func add(_ tick: @escaping Tick) -> Int {
        lastID += 1
        listeners.append((lastID, tick))
        update()
        return lastID
    }

    /// Ends the calls. May be called within one, and more than once.
    func remove(_ id: Int) {
        listeners.removeAll { $0.id == id }
        update()
    }

    /// Whether GTK is asked for calls.
    var isRunning: Bool { callback != 0 }

    private func update() {
        guard let pointer = widget.pointer, !listeners.isEmpty, gtk_widget_get_mapped(pointer.widget) != 0 else {
            return stop()
        }
        guard callback == 0 else { return }
        callback = gtk_widget_add_tick_callback(
            pointer.widget,
            { _, clock, data in
                guard let clock, let data else { return 0 }
                nonisolated(unsafe) let (clockPointer, owner) = (clock, data)
                MainActor.assumeIsolated {
                    let seconds = Double(gdk_frame_clock_get_frame_time(clockPointer)) / 1e6
                    Unmanaged<WeakFrameClock>.fromOpaque(owner).takeUnretainedValue().clock?.tick(seconds)
                }
                // It is removed by its number, never by this result: it may have been removed and added again meanwhile.
                return 1
            },
            Unmanaged.passRetained(WeakFrameClock(clock: self)).toOpaque(),
            { if let data = $0 { Unmanaged<WeakFrameClock>.fromOpaque(data).release() } }
        )
    }

    private func stop() {
        guard callback != 0 else { return }
        if let pointer = widget.pointer { gtk_widget_remove_tick_callback(pointer.widget, callback) }
        callback = 0
    }

    private func tick(_ seconds: Double) {
        for listener in listeners where listeners.contains(where: { $0.id == listener.id }) { listener.tick(seconds) }
    }

    private final class WeakFrameClock: Sendable {
        @MainActor weak var clock: FrameClock?
        @MainActor init(clock: FrameClock) { self.clock = clock }
    }
}
