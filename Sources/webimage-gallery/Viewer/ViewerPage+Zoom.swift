import CWebImageGTK4
import WebImage
import WebImageGTK

extension ViewerPage {
    func zoomIn() { setZoom(geometryNow.shownZoom * ZoomGeometry.step) }
    func zoomOut() { setZoom(geometryNow.shownZoom / ZoomGeometry.step) }
    func showPixels() { setZoom(1) }

    /// Fits the image into the area.
    func fit() {
        geometry.fit()
        showFitting()
    }

    /// Sets the zoom: screen pixels per image pixel. The point under the pointer stays in place.
    ///
    /// - Parameter place: a fixed point to use in place of the pointer.
    func setZoom(_ wanted: Double, about place: ImagePoint? = nil) {
        geometry = geometryNow
        guard let target = geometry.setZoom(wanted, about: place ?? pointer, from: scroll) else { return }
        // A drag in progress, as in a double click, would otherwise jump back to its start.
        panStart = nil
        showZoomed()
        // The adjustments get their new range only with the next layout, so it is set here first.
        let content = geometry.content
        for (adjustment, size, value) in [
            (horizontal, content.width, target.x), (vertical, content.height, target.y),
        ] {
            gtk_adjustment_set_upper(adjustment, max(size, gtk_adjustment_get_page_size(adjustment)))
            gtk_adjustment_set_value(adjustment, value)
        }
    }

    /// The geometry with the current sizes.
    private var geometryNow: ZoomGeometry {
        var geometry = geometry
        geometry.view = ImageSize(
            width: Double(gtk_widget_get_width(scroller)),
            height: Double(gtk_widget_get_height(scroller))
        )
        geometry.scaleFactor = Double(gtk_widget_get_scale_factor(scroller))
        return geometry
    }

    /// Updates the layout after the image size or the scale factor changed.
    func applyZoom() {
        geometry = geometryNow
        if geometry.zoom == nil { showFitting() } else { showZoomed() }
    }

    func showFitting() {
        gtk_widget_set_size_request(picture, -1, -1)
        picture.expand()
        gtk_widget_set_halign(picture, GTK_ALIGN_FILL)
        gtk_widget_set_valign(picture, GTK_ALIGN_FILL)
        gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_SCALE_DOWN)
        gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_EXTERNAL, GTK_POLICY_EXTERNAL)
        gtk_label_set_text(zoomLabel.opaque, "Fit")
        gtk_widget_set_cursor(scroller, nil)
    }

    private func showZoomed() {
        gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_CONTAIN)
        gtk_widget_set_hexpand(picture, 0)
        gtk_widget_set_vexpand(picture, 0)
        gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
        let content = geometry.content
        gtk_widget_set_size_request(picture, Int32(content.width), Int32(content.height))
        gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC)
        gtk_label_set_text(zoomLabel.opaque, ZoomText.percent(geometry.shownZoom))
        let isBigger = content.width > geometry.view.width || content.height > geometry.view.height
        gtk_widget_set_cursor_from_name(scroller, isBigger ? "grab" : nil)
    }

    // MARK: Scrolling

    private var horizontal: UnsafeMutablePointer<GtkAdjustment>? {
        gtk_scrolled_window_get_hadjustment(scroller.opaque)
    }
    private var vertical: UnsafeMutablePointer<GtkAdjustment>? { gtk_scrolled_window_get_vadjustment(scroller.opaque) }

    /// The scroll position in points.
    var scroll: ImagePoint {
        get { ImagePoint(x: gtk_adjustment_get_value(horizontal), y: gtk_adjustment_get_value(vertical)) }
        set {
            gtk_adjustment_set_value(horizontal, newValue.x)
            gtk_adjustment_set_value(vertical, newValue.y)
        }
    }
}

/// Formats zoom factors.
enum ZoomText {
    /// Formats per cent: integers from 10 up, one decimal below.
    static func percent(_ zoom: Double) -> String {
        let tenths = (zoom * 1000).rounded()
        guard tenths.isFinite, abs(tenths) < 1e9 else { return "" }
        if tenths >= 100 { return "\(Int((zoom * 100).rounded())) %" }
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) %"
    }
}
