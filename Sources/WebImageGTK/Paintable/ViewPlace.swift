import CWebImageGTK4
import WebImage

/// Where a view draws its paintable, in its own points.
///
/// GTK says a paintable only how big it is drawn. For what lies beside it (what was there before it and had another shape, or an
/// indicator) one has to know where that is, so this tells what `GtkPicture` and `GtkImage` do.
@MainActor
struct ViewPlace {
    /// The view, from the corner of the paintable that is drawn.
    let view: ImageRect
    private let fit: ContentFit
    private let host: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - host: who draws it.
    ///   - content: what is drawn.
    ///   - width: what it covers.
    ///   - height: what it covers.
    init(_ host: UnsafeMutableRawPointer?, drawing content: PaintableContent?, _ width: Double, _ height: Double) {
        let own = ImageRect(x: 0, y: 0, width: width, height: height)
        let box = host.map {
            ImageSize(width: Double(gtk_widget_get_width($0.widget)), height: Double(gtk_widget_get_height($0.widget)))
        }
        guard let host, let box, box.width > 0, box.height > 0 else {
            (view, fit, self.host) = (own, .contain, nil)
            return
        }
        let fit = ContentFit.of(host)
        let place = Self.place(of: content, in: box, host, fit)
        // Somebody else draws it, who has other rules, or at another size than that of the widget.
        guard abs(place.width - width) < 0.5, abs(place.height - height) < 0.5 else {
            (view, self.fit, self.host) = (own, .contain, nil)
            return
        }
        view = ImageRect(x: -place.x, y: -place.y, width: box.width, height: box.height)
        (self.fit, self.host) = (fit, host)
    }

    /// Where another content would be drawn, from the corner of the paintable that is.
    func rect(of content: PaintableContent?) -> ImageRect {
        let place = Self.place(of: content, in: ImageSize(width: view.width, height: view.height), host, fit)
        return ImageRect(x: view.x + place.x, y: view.y + place.y, width: place.width, height: place.height)
    }

    private static func place(
        of content: PaintableContent?,
        in box: ImageSize,
        _ host: UnsafeMutableRawPointer?,
        _ fit: ContentFit
    ) -> ImageRect {
        fit.rect(of: content?.size ?? ImageSize(width: 0, height: 0), ratio: content?.ratio ?? 0, in: box)
    }
}
