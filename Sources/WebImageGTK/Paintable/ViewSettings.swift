import CWebImageGTK4
import CWebImageGTKShims

/// Desktop settings of the user.
@MainActor
enum ViewSettings {
    /// Returns GTK's setting `gtk-enable-animations`.
    static func areAnimationsEnabled(for view: UnsafeMutableRawPointer) -> Bool {
        guard let settings = gtk_settings_get_for_display(gtk_widget_get_display(view.widget)) else { return true }
        return webimage_gtk_get_flag(UnsafeMutableRawPointer(settings), "gtk-enable-animations")
    }

    /// Returns the colour in which the view would draw text.
    static func textColor(of view: UnsafeMutableRawPointer) -> GdkRGBA {
        var color = GdkRGBA()
        webimage_gtk_get_text_color(view.widget, &color)
        return color
    }
}
