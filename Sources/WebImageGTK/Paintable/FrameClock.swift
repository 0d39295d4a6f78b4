import CWebImageGTK4

/// Calls back before each frame of a widget, while there is a listener and the widget is mapped: GTK's own tick callbacks continue for
/// widgets on hidden pages.
@MainActor
final class FrameClock {
    /// Called with the frame time in seconds, which never goes backwards.
    typealias Tick = @MainActor (_ seconds: Double) -> Void

    private let widget: WeakObject
    private var listeners: [(id: Int, tick: Tick)] = []
    private var lastID = 0
    private var callback: guint = 0

    /// - Parameter widget: the widget whose frames are observed; not retained.
    init(widget: UnsafeMutableRawPointer) {
        self.widget = WeakObject(widget)
        Signal("map", of: widget) { [weak self] in self?.update() }
        Signal("unmap", of: widget) { [weak self] in self?.update() }
    }

    isolated deinit { stop() }

    /// Adds a listener, which is called before each frame.
    ///
    /// - Returns: the identifier for ``remove(_:)``.
    func add(_ tick: @escaping Tick) -> Int {
        lastID += 1
        listeners.append((lastID, tick))
        update()
        return lastID
    }

    /// Removes a listener. May be called from a listener, and more than once.
    func remove(_ id: Int) {
        listeners.removeAll { $0.id == id }
        update()
    }

    /// True while a tick callback is registered with GTK.
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
                // It is always removed by its identifier, never by this result: it may have been removed and added again in the callback.
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
