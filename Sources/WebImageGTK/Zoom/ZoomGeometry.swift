import WebImage

/// The zoom and position of an image in its area. In points, except for the image size.
struct ZoomGeometry: Equatable {
    /// The upright size of the image in pixels; 0 while unknown.
    var image = ImageSize(width: 0, height: 0)
    /// The size of the area.
    var view = ImageSize(width: 0, height: 0)
    /// Screen pixels per point.
    var scaleFactor = 1.0
    /// Screen pixels per image pixel; nil to fit the image into the area.
    private(set) var zoom: Double?
    /// The maximum side of the zoomed image.
    var maximumSide = maximumTextureSide

    /// The factor of a zoom step.
    static let step = 1.25
    /// The maximum side of a zoomed image that is one texture.
    static let maximumTextureSide = 16_000.0
    /// The maximum side of a zoomed image that is drawn in tiles. Coordinates up to here are exact in single precision, as GTK computes them,
    /// with parts of a device pixel to spare.
    static let maximumTiledSide = Double(1 << 19)
    private static let limits = 0.02...16.0

    /// True if the size of the image is known.
    var isKnown: Bool { image.width > 0 && image.height > 0 }

    /// The zoom at which the image fits into the area; at most 1.
    var fittingZoom: Double {
        guard isKnown, view.width > 0, view.height > 0 else { return 1 }
        return min(view.width * scaleFactor / image.width, view.height * scaleFactor / image.height, 1)
    }

    /// The effective zoom.
    var shownZoom: Double { zoom ?? fittingZoom }

    /// The size of the zoomed image, in whole points, at least 1.
    var content: ImageSize { content(at: shownZoom) }

    private func content(at zoom: Double) -> ImageSize {
        ImageSize(width: side(image.width, zoom), height: side(image.height, zoom))
    }

    private func side(_ pixels: Double, _ zoom: Double) -> Double {
        let points = (pixels * zoom / scaleFactor).rounded(.up)
        return min(max(points.isFinite ? points : 1, 1), maximumSide)
    }

    /// Fits the image into the area from now on.
    mutating func fit() { zoom = nil }

    /// Sets the zoom within its limits: never larger than GTK can lay out, and never below the smaller of 2 % and the fitting zoom.
    ///
    /// - Parameters:
    ///   - wanted: screen pixels per image pixel.
    ///   - place: the fixed point, relative to the area's top left corner; nil for its middle.
    ///   - scroll: the current scroll position.
    /// - Returns: the new scroll position; nil if the size of the image is unknown.
    mutating func setZoom(_ wanted: Double, about place: ImagePoint?, from scroll: ImagePoint) -> ImagePoint? {
        guard isKnown, wanted.isFinite else { return nil }
        let most = maximumSide * scaleFactor / max(image.width, image.height)
        let upper = min(Self.limits.upperBound, most)
        let lower = min(Self.limits.lowerBound, fittingZoom, upper)
        let place = place ?? ImagePoint(x: view.width / 2, y: view.height / 2)
        let before = content
        zoom = min(max(wanted, lower), upper)
        return scrolled(from: before, scroll, about: place)
    }

    private func scrolled(from before: ImageSize, _ scroll: ImagePoint, about place: ImagePoint) -> ImagePoint {
        let after = content
        /// Keeps the relative position in the image the same.
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

    /// The margin on each side of an image that is smaller than the area.
    private static func margin(_ content: Double, in view: Double) -> Double { max((view - content) / 2, 0) }
}
