import CWebImageGTK4
import WebImage

/// The size of views.
@MainActor
enum ViewGeometry {
    /// Returns the size in pixels at which a view shows images: its allocation, or else its size request; nil if one of its sides is
    /// unknown.
    static func pixelSize(of view: UnsafeMutableRawPointer) -> ImageSize? {
        let widget = view.widget
        var (width, height) = (gtk_widget_get_width(widget), gtk_widget_get_height(widget))
        if width <= 0 || height <= 0 { gtk_widget_get_size_request(widget, &width, &height) }
        if view.isA(gtk_image_get_type()), case let side = gtk_image_get_pixel_size(view.opaque), side > 0 {
            (width, height) = (side, side)
        }
        guard width > 0, height > 0 else { return nil }
        let scale = gtk_widget_get_scale_factor(widget)
        return ImageSize(width: Double(width * scale), height: Double(height * scale))
    }
}

extension ViewState {
    /// True if the view shows the paintable; the program may have set something else.
    var isPaintableInstalled: Bool {
        guard let own = existingPaintable?.pointer.opaque else { return false }
        if view.isA(gtk_picture_get_type()) { return gtk_picture_get_paintable(view.opaque) == own }
        return view.isA(gtk_image_get_type()) && gtk_image_get_paintable(view.opaque) == own
    }

    /// Sets the paintable on a view that can show one.
    func installPaintable() {
        if view.isA(gtk_picture_get_type()) {
            if gtk_picture_get_paintable(view.opaque) != paintable.pointer.opaque {
                gtk_picture_set_paintable(view.opaque, paintable.pointer.opaque)
            }
        } else if view.isA(gtk_image_get_type()) {
            if gtk_image_get_paintable(view.opaque) != paintable.pointer.opaque {
                gtk_image_set_from_paintable(view.opaque, paintable.pointer.opaque)
            }
        }
    }
}

extension ViewState {
    /// Fixes the size of a `GtkPicture` that has a size request: its paintable then has no intrinsic size and fits its content into the
    /// view's box when it is drawn, so a new image needs no layout. Does nothing for other views.
    func keepRequestedSize() {
        guard view.isA(gtk_picture_get_type()) else { return }
        var (width, height): (gint, gint) = (-1, -1)
        gtk_widget_get_size_request(view.widget, &width, &height)
        if width > 0, height > 0 { paintable.hasFixedSize = true }
    }
}
