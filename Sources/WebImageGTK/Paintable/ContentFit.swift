import CWebImageGTK4
import WebImage

/// The way a widget fits a paintable into its box.
enum ContentFit: Sendable {
    case fill
    case contain
    case cover
    case scaleDown
    /// Contained in a square, as `GtkImage` does it.
    case icon

    /// Returns the content fit of a `GtkPicture`; `GtkImage` shows icons, and other widgets contain their content.
    @MainActor
    static func of(_ view: UnsafeMutableRawPointer) -> ContentFit {
        if view.isA(gtk_image_get_type()) { return .icon }
        guard view.isA(gtk_picture_get_type()) else { return .contain }
        return switch gtk_picture_get_content_fit(view.opaque) {
        case GTK_CONTENT_FIT_FILL: .fill
        case GTK_CONTENT_FIT_COVER: .cover
        case GTK_CONTENT_FIT_SCALE_DOWN: .scaleDown
        default: .contain
        }
    }

    /// True if an image must be at least as big as the box on both sides not to be scaled up.
    var needsBothSides: Bool { self == .cover || self == .fill }

    /// Returns the size at which content is drawn in a box.
    ///
    /// - Parameters:
    ///   - size: the content's intrinsic size; used only by `scaleDown`.
    ///   - ratio: the aspect ratio, greater than 0.
    ///   - box: the size of the box, greater than 0 on both sides.
    func size(of size: ImageSize, ratio: Double, in box: ImageSize) -> ImageSize {
        let isWider = ratio > box.width / box.height
        switch self {
        case .fill: return box
        case .scaleDown where size.width <= box.width && size.height <= box.height: return size
        case .contain, .scaleDown:
            return isWider
                ? ImageSize(width: box.width, height: box.width / ratio)
                : ImageSize(width: box.height * ratio, height: box.height)
        case .icon:
            let side = min(box.width, box.height)
            return ContentFit.contain.size(of: size, ratio: ratio, in: ImageSize(width: side, height: side))
        case .cover:
            return isWider
                ? ImageSize(width: box.height * ratio, height: box.height)
                : ImageSize(width: box.width, height: box.width / ratio)
        }
    }

    /// Returns where GTK draws content in a box, to the point: at integer coordinates, with an odd remainder below or on the right.
    ///
    /// - Parameters:
    ///   - size: the content's intrinsic size.
    ///   - ratio: the aspect ratio; 0 for content of any shape, which fills the box.
    ///   - box: the size of the box.
    ///   - roundsUp: true if `GtkPicture` rounds sizes up to integers, as newer versions of GTK do.
    func rect(of size: ImageSize, ratio: Double, in box: ImageSize, roundsUp: Bool = false) -> ImageRect {
        guard box.width > 0, box.height > 0, self != .fill else { return Self.whole(box) }
        if self == .icon {
            let square = Self.square(min(box.width, box.height), in: box, onWholePoints: true)
            return Self.rect(ratio: ratio, inSquare: square)
        }
        guard ratio > 0 else { return Self.whole(box) }
        let wanted = ImageSize(width: size.width.rounded(), height: size.height.rounded())
        let exact = self.size(of: wanted, ratio: ratio, in: box)
        let size = roundsUp ? ImageSize(width: exact.width.rounded(.up), height: exact.height.rounded(.up)) : exact
        return Self.centered(size, in: box)
    }

    /// Returns where `GtkImage` draws content in a square.
    ///
    /// - Parameters:
    ///   - ratio: the aspect ratio; 0 for content of any shape.
    ///   - square: the square, at integer or half-integer coordinates.
    static func rect(ratio: Double, inSquare square: ImageRect) -> ImageRect {
        guard ratio > 0 else { return square }
        let box = ImageSize(width: square.width, height: square.height)
        let size = ContentFit.contain.size(of: box, ratio: ratio, in: box)
        return ImageRect(
            x: square.x + (box.width - size.width.rounded(.up)) / 2,
            y: square.y + (box.height - size.height.rounded(.up)) / 2,
            width: size.width,
            height: size.height
        )
    }

    /// Returns a square in the middle of a box.
    static func square(_ side: Double, in box: ImageSize, onWholePoints: Bool) -> ImageRect {
        if onWholePoints { return centered(ImageSize(width: side, height: side), in: box) }
        return ImageRect(x: (box.width - side) / 2, y: (box.height - side) / 2, width: side, height: side)
    }

    private static func whole(_ box: ImageSize) -> ImageRect {
        ImageRect(x: 0, y: 0, width: box.width, height: box.height)
    }

    private static func centered(_ size: ImageSize, in box: ImageSize) -> ImageRect {
        ImageRect(
            x: ((box.width - size.width.rounded(.up)) / 2).rounded(.towardZero),
            y: ((box.height - size.height.rounded(.up)) / 2).rounded(.towardZero),
            width: size.width,
            height: size.height
        )
    }
}
