import CWebImageGTK4
import WebImageGTK

/// A keyboard shortcut and its action.
struct GalleryShortcut {
    /// Key names as GTK parses them, with `|` between alternatives.
    let keys: String
    /// True if the shortcut works only in the viewer.
    var isForViewer = false
    /// - Returns: true if the action did something.
    let action: @MainActor (GalleryWindow) -> Bool

    @MainActor static let all: [GalleryShortcut] = [
        always("<Control>q|<Control>w") { gtk_window_close($0.widget.cast()) },
        always("<Control>o") { $0.choose(.folder) },
        always("<Control>l") { $0.choose(.files) },
        always("<Control>i") { $0.showCache() },
        always("<Control>d") { _ in Appearance.toggle() },
        always("F11") { $0.toggleFullscreen() },
        GalleryShortcut(keys: "Escape|<Alt>Left") { $0.leave() },
        viewer("Left|Page_Up|KP_Left|KP_Page_Up") { $0.step(-1) },
        viewer("Right|Page_Down|KP_Right|KP_Page_Down") { $0.step(1) },
        viewer("Home|KP_Home") { $0.open(0) },
        viewer("End|KP_End") { $0.open($0.items.count - 1) },
        viewer("plus|equal|KP_Add|<Control>plus|<Control>equal|<Control>KP_Add") { $0.viewer.zoomIn() },
        viewer("minus|KP_Subtract|<Control>minus|<Control>KP_Subtract") { $0.viewer.zoomOut() },
        viewer("0|KP_0|<Control>0|<Control>KP_0") { $0.viewer.fit() },
        viewer("1|KP_1|<Control>1|<Control>KP_1") { $0.viewer.showPixels() },
        viewer("i") { $0.viewer.facts.toggle() },
        viewer("space") { $0.viewer.animation.toggle() },
    ]

    private static func always(_ keys: String, _ action: @escaping @MainActor (GalleryWindow) -> Void) -> Self {
        GalleryShortcut(keys: keys) {
            action($0)
            return true
        }
    }

    private static func viewer(_ keys: String, _ action: @escaping @MainActor (GalleryWindow) -> Void) -> Self {
        GalleryShortcut(keys: keys, isForViewer: true) {
            action($0)
            return true
        }
    }
}

extension GalleryWindow {
    /// Adds the keyboard shortcuts.
    ///
    /// The viewer's shortcuts take precedence over the scrolled area, which would scroll, but not over other widgets with the keyboard
    /// focus: Space presses a focused button, and arrows move in an open list.
    func addShortcuts() {
        add(GalleryShortcut.all.filter(\.isForViewer), GTK_PHASE_CAPTURE) { window in
            guard let focus = gtk_window_get_focus(window.widget.cast()) else { return true }
            return focus == window.viewer.scroller
        }
        add(GalleryShortcut.all, GTK_PHASE_BUBBLE) { window in
            guard let focus = gtk_window_get_focus(window.widget.cast()) else { return true }
            return gtk_widget_get_native(focus) == gtk_widget_get_native(window.widget)
        }
    }

    private func add(
        _ shortcuts: [GalleryShortcut],
        _ phase: GtkPropagationPhase,
        servesViewer: @escaping @MainActor (GalleryWindow) -> Bool
    ) {
        guard let controller = gtk_shortcut_controller_new() else { return }
        gtk_event_controller_set_propagation_phase(controller, phase)
        for shortcut in shortcuts {
            let body = ShortcutBody { [weak self] in
                guard let self, !shortcut.isForViewer || (page == .viewer && servesViewer(self)) else { return false }
                return shortcut.action(self)
            }
            let action = gtk_callback_action_new(
                { _, _, data in
                    guard let data else { return 0 }
                    nonisolated(unsafe) let box = data
                    return MainActor.assumeIsolated {
                        Unmanaged<ShortcutBody>.fromOpaque(box).takeUnretainedValue().body() ? 1 : 0
                    }
                },
                Unmanaged.passRetained(body).toOpaque(),
                { if let data = $0 { Unmanaged<ShortcutBody>.fromOpaque(data).release() } }
            )
            let trigger = gtk_shortcut_trigger_parse_string(shortcut.keys)
            gtk_shortcut_controller_add_shortcut(controller, gtk_shortcut_new(trigger, action))
        }
        gtk_widget_add_controller(widget, controller)
    }

    func toggleFullscreen() {
        let window: UnsafeMutablePointer<GtkWindow> = widget.cast()
        if gtk_window_is_fullscreen(window) != 0 {
            gtk_window_unfullscreen(window)
        } else {
            gtk_window_fullscreen(window)
        }
    }

    /// - Returns: true if there was a page or full screen to leave.
    func leave() -> Bool {
        if gtk_window_is_fullscreen(widget.cast()) != 0 {
            gtk_window_unfullscreen(widget.cast())
        } else if page == .viewer || page == .cache {
            goBack()
        } else {
            return false
        }
        return true
    }
}

private final class ShortcutBody: Sendable {
    let body: @MainActor () -> Bool
    init(_ body: @escaping @MainActor () -> Bool) { self.body = body }
}
