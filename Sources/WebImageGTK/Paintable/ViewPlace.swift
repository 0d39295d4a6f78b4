import CWebImageGTK4
import WebImage

/// The position at which a view draws its paintable, in the view's points.
///
/// GTK tells a paintable only the size at which it is drawn. Content beside it (the previous content with another shape, or an indicator)
/// needs its position, so this computes the layout of `GtkPicture` and `GtkImage`.
@MainActor
struct ViewPlace {
    /// The view's rectangle, relative to the top left corner of the paintable.
    let view: ImageRect
    private let fit: ContentFit
    /// True if sizes are rounded up to integers.
    private let roundsUp: Bool
    /// The square in which a `GtkImage` draws, relative to the top left corner of the view.
    private let square: ImageRect?

    /// - Parameters:
    ///   - host: the view.
    ///   - content: the content that is drawn.
    ///   - width: the width at which it is drawn.
    ///   - height: the height at which it is drawn.
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
        // Between GTK 4.8 and 4.18, `GtkPicture` began to round up. The drawn size shows which rule applies, unless both give the same.
        let places = [false, true].map { roundsUp in
            (roundsUp: roundsUp, rect: Self.place(of: content, in: box, square, fit, roundsUp: roundsUp))
        }
        let fitting = places.filter { abs($0.rect.width - width) < 0.01 && abs($0.rect.height - height) < 0.01 }
        // If neither fits, another widget draws the paintable with other rules, or it is drawn at another size than the widget's.
        guard let first = fitting.first, let last = fitting.last else {
            (view, self.fit, roundsUp, self.square) = (own, .contain, false, nil)
            return
        }
        let place = gtk_get_minor_version() < 10 ? first : last
        view = ImageRect(x: -place.rect.x, y: -place.rect.y, width: box.width, height: box.height)
        (self.fit, roundsUp, self.square) = (fit, place.roundsUp, square)
    }

    /// Returns where other content would be drawn, relative to the top left corner of the paintable.
    func rect(of content: PaintableContent?) -> ImageRect {
        let box = ImageSize(width: view.width, height: view.height)
        let place = Self.place(of: content, in: box, square, fit, roundsUp: roundsUp)
        return ImageRect(x: view.x + place.x, y: view.y + place.y, width: place.width, height: place.height)
    }

    /// Returns the square in which a `GtkImage` draws. Up to GTK 4.18 it is the biggest one in the box, at integer coordinates. In GTK 4.24
    /// it is a centred square of the icon size, and the drawing touches two of its sides.
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
