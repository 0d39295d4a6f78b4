import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// The windows of the program. Reports when none of them is visible any more.
@MainActor
final class WindowWatches {
    /// The windows of this program; notifies its caches.
    static let shared = WindowWatches { WebImageLifecycle.didEnterBackground() }

    private var windows: [UnsafeMutableRawPointer: WindowWatch] = [:]
    private var isSeen = false
    private var isUpdateScheduled = false
    private let enteredBackground: @MainActor () -> Void

    /// - Parameter enteredBackground: called when no window is visible any more.
    init(enteredBackground: @escaping @MainActor () -> Void) { self.enteredBackground = enteredBackground }

    var count: Int { windows.count }

    func add(_ window: UnsafeMutableRawPointer) {
        guard windows[window] == nil else { return }
        windows[window] = WindowWatch(
            window,
            changed: { [weak self] in self?.scheduleUpdate() },
            ended: { [weak self] in self?.remove(window) }
        )
        scheduleUpdate()
    }

    func remove(_ window: UnsafeMutableRawPointer) {
        guard let watch = windows.removeValue(forKey: window) else { return }
        watch.end()
        scheduleUpdate()
    }

    /// Schedules an update, not at once: a window may close because another one opens, and a program ends before the update when its last
    /// window closes.
    private func scheduleUpdate() {
        guard !isUpdateScheduled else { return }
        isUpdateScheduled = true
        MainLoopQueue.shared.post { [weak self] in self?.update() }
    }

    private func update() {
        isUpdateScheduled = false
        let wasSeen = isSeen
        isSeen = windows.values.contains { $0.isSeen }
        if wasSeen, !isSeen { enteredBackground() }
    }
}

/// Observes whether one window is visible.
@MainActor
final class WindowWatch {
    private let window: WeakObject
    private let changed: @MainActor () -> Void
    private var signals: [Signal] = []
    private var surfaceSignal: Signal?
    /// True if GTK has the property `suspended` (4.12 and later).
    private let knowsSuspension: Bool

    /// - Parameters:
    ///   - window: a `GtkWindow`; not retained.
    ///   - changed: called when the visibility may have changed.
    ///   - ended: called when the window is destroyed.
    init(
        _ window: UnsafeMutableRawPointer,
        changed: @escaping @MainActor () -> Void,
        ended: @escaping @MainActor () -> Void
    ) {
        self.window = WeakObject(window)
        self.changed = changed
        knowsSuspension = webimage_gtk_has_property(window, "suspended")
        var names = ["map", "unmap", "realize"]
        if knowsSuspension { names.append("notify::suspended") }
        signals = names.map { name in
            Signal(name, of: window) { [weak self] in
                self?.followSurface()
                changed()
            }
        }
        // Emitted while the surface still exists.
        signals.append(Signal("unrealize", of: window) { [weak self] in self?.leaveSurface() })
        signals.append(Signal("destroy", of: window, ended))
        followSurface()
    }

    func end() {
        for signal in signals { signal.disconnect() }
        signals = []
        leaveSurface()
    }

    /// True if the window is on the screen, as far as the system reports it. A window covered by others counts as visible.
    var isSeen: Bool {
        guard let window = window.pointer, gtk_widget_get_mapped(window.widget) != 0, let surface else { return false }
        if knowsSuspension, webimage_gtk_get_flag(window, "suspended") { return false }
        return gdk_toplevel_get_state(surface.opaque).rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue == 0
    }

    private var surface: UnsafeMutableRawPointer? {
        guard let window = window.pointer, gtk_widget_get_realized(window.widget) != 0 else { return nil }
        return gtk_native_get_surface(window.opaque).map { UnsafeMutableRawPointer($0) }
    }

    /// Observes the surface: a window has a new one each time it is realized.
    private func followSurface() {
        guard surfaceSignal == nil, let surface else { return }
        surfaceSignal = Signal("notify::state", of: surface, changed)
    }

    private func leaveSurface() {
        surfaceSignal?.disconnect()
        surfaceSignal = nil
    }
}
