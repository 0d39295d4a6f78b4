import CWebImageGTK4
import Glibc

/// The styles and settings of the window.
@MainActor
enum Appearance {
    private static let style = """
        .gallery-grid { padding: 12px; }
        .gallery-grid > child { border-radius: 8px; }
        .notice { padding: 6px 12px; background: alpha(@warning_color, 0.25); }
        .facts { border-left: 1px solid alpha(currentColor, 0.15); }
        """

    static func install(isDark: Bool?) {
        guard let display = gdk_display_get_default() else { return }
        let provider = gtk_css_provider_new()
        webimage_gtk_load_css(provider, style)
        gtk_style_context_add_provider_for_display(
            display,
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
        g_object_unref(UnsafeMutableRawPointer(provider))
        if let isDark { self.isDark = isDark }
    }

    /// Keeps GTK from loading the graphics driver where the user has chosen to draw without it (`GSK_RENDERER=cairo`). Called before GTK
    /// starts, which loads it all the same, in tens of milliseconds.
    static func chooseRenderer() {
        func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        let minorVersion = Int(gtk_get_minor_version())
        if let setting = driverSetting(renderer: value("GSK_RENDERER"), minorVersion: minorVersion, value) {
            setenv(setting.name, setting.value, 1)
        }
    }

    /// Returns the variable that makes GTK start without OpenGL; nil for a renderer that may need it.
    static func driverSetting(
        renderer: String?,
        minorVersion: Int,
        _ former: (String) -> String?
    ) -> (name: String, value: String)? {
        guard renderer == "cairo" else { return nil }
        // Renamed in GTK 4.16.
        let (name, word) = minorVersion >= 16 ? ("GDK_DISABLE", "gl") : ("GDK_DEBUG", "gl-disable")
        return (name, former(name).map { "\($0),\(word)" } ?? word)
    }

    static func toggle() { isDark.toggle() }

    /// Turns off all animations except those of images, for screenshots.
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

    /// Calls `body` with GTK's settings and a Boolean value to read or write, and returns that value.
    private static func withValue(_ body: (UnsafeMutablePointer<GObject>, inout GValue) -> Void) -> Bool {
        guard let settings = gtk_settings_get_default() else { return false }
        var value = GValue()
        // G_TYPE_BOOLEAN, a macro that Swift does not import.
        g_value_init(&value, g_type_from_name("gboolean"))
        defer { g_value_unset(&value) }
        body(UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self), &value)
        return g_value_get_boolean(&value) != 0
    }
}
