import CWebImageGTK4

/// Colours of the window.
@MainActor
enum Appearance {
    private static let style = """
        .gallery-grid { padding: 12px; }
        .gallery-grid > child { border-radius: 8px; }
        .facts { border-left: 1px solid alpha(currentColor, 0.15); }
        """

    static func install(isDark: Bool?) {
        guard let display = gdk_display_get_default() else { return }
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, style, -1)
        gtk_style_context_add_provider_for_display(
            display,
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
        g_object_unref(UnsafeMutableRawPointer(provider))
        if let isDark { self.isDark = isDark }
    }

    static func toggle() { isDark.toggle() }

    /// Has nothing move but pictures: for what is looked at once.
    static func stopAnimations() { set("gtk-enable-animations", false) }

    private static var isDark: Bool {
        get { withValue { g_object_get_property($0, darkness, &$1) } }
        set { set(darkness, newValue) }
    }

    private static let darkness = "gtk-application-prefer-dark-theme"

    private static func set(_ property: String, _ isOn: Bool) {
        _ = withValue { settings, value in
            g_value_set_boolean(&value, isOn ? 1 : 0)
            g_object_set_property(settings, property, &value)
        }
    }

    /// A boolean, and GTK's settings to read it from or to write it to.
    private static func withValue(_ body: (UnsafeMutablePointer<GObject>, inout GValue) -> Void) -> Bool {
        guard let settings = gtk_settings_get_default() else { return false }
        var value = GValue()
        // G_TYPE_BOOLEAN, a macro that Swift does not see.
        g_value_init(&value, g_type_from_name("gboolean"))
        defer { g_value_unset(&value) }
        body(UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self), &value)
        return g_value_get_boolean(&value) != 0
    }
}

/// Asks for a folder.
@MainActor
enum FolderChooser {
    static func run(over window: Widget, _ chosen: @escaping @MainActor (String) -> Void) {
        guard
            let chooser = gtk_file_chooser_native_new(
                "Open a folder",
                window.cast(),
                GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                nil,
                nil
            )
        else { return }
        typealias Call = @convention(c) (OpaquePointer, gint, UnsafeMutableRawPointer) -> Void
        let response: Call = { chooser, answer, box in
            nonisolated(unsafe) let (chooser, box) = (chooser, box)
            MainActor.assumeIsolated {
                let body = Unmanaged<Box>.fromOpaque(box).takeRetainedValue()
                if answer == GTK_RESPONSE_ACCEPT.rawValue, let file = gtk_file_chooser_get_file(chooser) {
                    if let path = g_file_get_path(file) {
                        body.chosen(String(cString: path))
                        g_free(path)
                    }
                    g_object_unref(UnsafeMutableRawPointer(file))
                }
                g_object_unref(UnsafeMutableRawPointer(chooser))
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(chooser),
            "response",
            unsafeBitCast(response, to: GCallback.self),
            Unmanaged.passRetained(Box(chosen)).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        gtk_native_dialog_show(UnsafeMutableRawPointer(chooser).assumingMemoryBound(to: GtkNativeDialog.self))
    }

    private final class Box: Sendable {
        let chosen: @MainActor (String) -> Void
        init(_ chosen: @escaping @MainActor (String) -> Void) { self.chosen = chosen }
    }
}
