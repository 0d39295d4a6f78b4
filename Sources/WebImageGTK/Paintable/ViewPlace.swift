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
    /// Whether sizes are rounded up to whole points.
    private let roundsUp: Bool
    /// In which a `GtkImage` draws, from the corner of the view.
    private let square: ImageRect?

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
            (view, fit, roundsUp, square) = (own, .contain, false, nil)
            return
        }
        let fit = ContentFit.of(host)
        let square = fit == .icon ? Self.square(in: box, drawing: max(width, height)) : nil
        // Between GTK 4.8 and 4.18 pictures began to round up. Which of both this one does shows unless they are the same.
        let places = [false, true].map { roundsUp in
            (roundsUp: roundsUp, rect: Self.place(of: content, in: box, square, fit, roundsUp: roundsUp))
        }
        let fitting = places.filter { abs($0.rect.width - width) < 0.01 && abs($0.rect.height - height) < 0.01 }
        // Without any, somebody else draws it, who has other rules, or at another size than that of the widget.
        guard let first = fitting.first, let last = fitting.last else {
            (view, self.fit, roundsUp, self.square) = (own, .contain, false, nil)
            return
        }
        let place = gtk_get_minor_version() < 10 ? first : last
        view = ImageRect(x: -place.rect.x, y: -place.rect.y, width: box.width, height: box.height)
        (self.fit, roundsUp, self.square) = (fit, place.roundsUp, square)
    }

    /// Where another content would be drawn, from the corner of the paintable that is.
    func rect(of content: PaintableContent?) -> ImageRect {
        let box = ImageSize(width: view.width, height: view.height)
        let place = Self.place(of: content, in: box, square, fit, roundsUp: roundsUp)
        return ImageRect(x: view.x + place.x, y: view.y + place.y, width: place.width, height: place.height)
    }

    /// The square in which a `GtkImage` draws. Up to GTK 4.18 it is the biggest in the box, on whole points; GTK 4.24 has one of the size of
    /// icons in the middle, of which what is drawn touches two sides.
    private static func square(in box: ImageSize, drawing side: Double) -> ImageRect {
        gtk_get_minor_version() < 20
            ? ContentFit.square(min(box.width, box.height), in: box, onWholePoints: true)
            : ContentFit.square(side, in: box, onWholePoints: false)
    }

    private static func place(
        of content: PaintableContent?,
        in box: ImageSize,
        _ square: ImageRect?,
        _ fit: ContentFit,
        roundsUp: Bool
    ) -> ImageRect {
        if let square { return ContentFit.rect(ratio: content?.ratio ?? 0, inSquare: square) }
        let size = content?.size ?? ImageSize(width: 0, height: 0)
        return fit.rect(of: size, ratio: content?.ratio ?? 0, in: box, roundsUp: roundsUp)
    }
}
