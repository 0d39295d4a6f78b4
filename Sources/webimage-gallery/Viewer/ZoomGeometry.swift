import WebImage

/// Where a picture lies in the area that shows it, and how that changes with its size. In points, but for the size of the picture.
struct ZoomGeometry: Equatable {
    /// The upright picture, in its own pixels; 0 as long as it is not known.
    var picture = ImageSize(width: 0, height: 0)
    /// The area.
    var view = ImageSize(width: 0, height: 0)
    /// Pixels of the screen in a point.
    var scaleFactor = 1.0
    /// Pixels of the screen that a pixel of the picture takes on a side; nil to fit the picture into the area.
    private(set) var zoom: Double?

    /// From one size to the next.
    static let step = 1.25
    /// GTK's sizes end somewhere, and so does what a screen is good for.
    static let maximumSide = 16_000.0
    private static let limits = 0.02...16.0

    /// Whether the picture's size is known.
    var isKnown: Bool { picture.width > 0 && picture.height > 0 }

    /// The size at which the picture fits into the area; at most that at which a pixel is one of the screen.
    var fittingZoom: Double {
        guard isKnown, view.width > 0, view.height > 0 else { return 1 }
        return min(view.width * scaleFactor / picture.width, view.height * scaleFactor / picture.height, 1)
    }

    /// What the picture is shown at.
    var shownZoom: Double { zoom ?? fittingZoom }

    /// The size that the picture takes; whole points, and at least one.
    var content: ImageSize { content(at: shownZoom) }

    private func content(at zoom: Double) -> ImageSize {
        ImageSize(width: side(picture.width, zoom), height: side(picture.height, zoom))
    }

    private func side(_ pixels: Double, _ zoom: Double) -> Double {
        let points = (pixels * zoom / scaleFactor).rounded(.up)
        return min(max(points.isFinite ? points : 1, 1), Self.maximumSide)
    }

    /// Fits the picture into the area from now on.
    mutating func fit() { zoom = nil }

    /// Gives the picture another size, within what is possible: never bigger than GTK can lay out, and as small as it is when it fits.
    ///
    /// - Parameters:
    ///   - wanted: pixels of the screen for one of the picture.
    ///   - place: what stays where it is, from the area's corner; its middle if nil.
    ///   - scroll: how far the area is scrolled now.
    /// - Returns: how far it is to be scrolled then; nil when nothing is known of the picture.
    mutating func setZoom(_ wanted: Double, about place: ImagePoint?, from scroll: ImagePoint) -> ImagePoint? {
        guard isKnown, wanted.isFinite else { return nil }
        let most = Self.maximumSide * scaleFactor / max(picture.width, picture.height)
        let upper = min(Self.limits.upperBound, most)
        let lower = min(Self.limits.lowerBound, fittingZoom, upper)
        let place = place ?? ImagePoint(x: view.width / 2, y: view.height / 2)
        let before = content
        zoom = min(max(wanted, lower), upper)
        return scrolled(from: before, scroll, about: place)
    }

    private func scrolled(from before: ImageSize, _ scroll: ImagePoint, about place: ImagePoint) -> ImagePoint {
        let after = content
        /// The place in the picture, as a part of its side, is the same before and after.
        func along(_ before: Double, _ after: Double, _ view: Double, _ scroll: Double, _ place: Double) -> Double {
            let part = (scroll + place - Self.margin(before, in: view)) / before
            let wanted = part * after + Self.margin(after, in: view) - place
            return min(max(wanted, 0), max(after - view, 0))
        }
        return ImagePoint(
            x: along(before.width, after.width, view.width, scroll.x, place.x),
            y: along(before.height, after.height, view.height, scroll.y, place.y)
        )
    }

    /// What is left on each side of a picture that is smaller than the area.
    private static func margin(_ content: Double, in view: Double) -> Double { max((view - content) / 2, 0) }
}
