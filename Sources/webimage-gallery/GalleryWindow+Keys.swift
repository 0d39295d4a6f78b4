import CWebImageGTK4
import WebImageGTK

extension GalleryWindow {
    /// What keys do, wherever the keyboard is.
    func addKeys() {
        let controller = gtk_event_controller_key_new()
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        typealias Call =
            @convention(c) (OpaquePointer, guint, guint, GdkModifierType, UnsafeMutableRawPointer) -> gboolean
        let pressed: Call = { _, key, _, state, owner in
            nonisolated(unsafe) let owner = owner
            let isControl = state.rawValue & GDK_CONTROL_MASK.rawValue != 0
            return MainActor.assumeIsolated {
                Unmanaged<GalleryWindow>.fromOpaque(owner).takeUnretainedValue().handle(Int(key), isControl) ? 1 : 0
            }
        }
        guard let controller else { return }
        g_signal_connect_data(
            UnsafeMutableRawPointer(controller),
            "key-pressed",
            unsafeBitCast(pressed, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        gtk_widget_add_controller(widget, controller)
    }

    /// - Returns: whether the key did something.
    private func handle(_ key: Int, _ isControl: Bool) -> Bool {
        if isControl {
            switch key {
            case Int(GDK_KEY_q): gtk_window_close(widget.cast())
            case Int(GDK_KEY_o): choose(.folder)
            case Int(GDK_KEY_l): choose(.files)
            default: return false
            }
            return true
        }
        if key == Int(GDK_KEY_Escape), page != .grid {
            showGrid()
            return true
        }
        return page == .viewer && handleInViewer(key)
    }

    private func handleInViewer(_ key: Int) -> Bool {
        switch key {
        case Int(GDK_KEY_Left), Int(GDK_KEY_Page_Up): step(-1)
        case Int(GDK_KEY_Right), Int(GDK_KEY_Page_Down): step(1)
        case Int(GDK_KEY_plus), Int(GDK_KEY_equal), Int(GDK_KEY_KP_Add): viewer.zoomIn()
        case Int(GDK_KEY_minus), Int(GDK_KEY_KP_Subtract): viewer.zoomOut()
        case Int(GDK_KEY_0): viewer.fit()
        case Int(GDK_KEY_1): viewer.showPixels()
        case Int(GDK_KEY_i): viewer.facts.toggle()
        case Int(GDK_KEY_space): viewer.animation.toggle()
        default: return false
        }
        return true
    }
}
