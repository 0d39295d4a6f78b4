import CWebImageGTK4
import WebImage

/// How a widget lays a paintable into its box.
enum ContentFit: Sendable {
    case fill
    case contain
    case cover
    case scaleDown

    /// What a picture says; others show them whole.
    @MainActor
    static func of(_ view: UnsafeMutableRawPointer) -> ContentFit {
        guard view.isA(gtk_picture_get_type()) else { return .contain }
        return switch gtk_picture_get_content_fit(view.opaque) {
        case GTK_CONTENT_FIT_FILL: .fill
        case GTK_CONTENT_FIT_COVER: .cover
        case GTK_CONTENT_FIT_SCALE_DOWN: .scaleDown
        default: .contain
        }
    }

    /// The size of something in a box.
    ///
    /// - Parameters:
    ///   - size: what it wants to measure; looked at by `scaleDown` alone.
    ///   - ratio: its width by its height, more than 0.
    ///   - box: more than 0 on both sides.
    func size(of size: ImageSize, ratio: Double, in box: ImageSize) -> ImageSize {
        let isWider = ratio > box.width / box.height
        switch self {
        case .fill: return box
        case .scaleDown where size.width <= box.width && size.height <= box.height: return size
        case .contain, .scaleDown:
            return isWider
                ? ImageSize(width: box.width, height: box.width / ratio)
                : ImageSize(width: box.height * ratio, height: box.height)
        case .cover:
            return isWider
                ? ImageSize(width: box.height * ratio, height: box.height)
                : ImageSize(width: box.width, height: box.width / ratio)
        }
    }

    /// Where something lies in a box, to the point where GTK puts it: on whole points, the odd one below or to the right.
    ///
    /// - Parameters:
    ///   - size: what it wants to measure.
    ///   - ratio: its width by its height; 0 for something that takes any shape, and so the whole box.
    ///   - box: how big the box is.
    func rect(of size: ImageSize, ratio: Double, in box: ImageSize) -> ImageRect {
        guard ratio > 0, box.width > 0, box.height > 0, self != .fill else {
            return ImageRect(x: 0, y: 0, width: box.width, height: box.height)
        }
        let whole = ImageSize(width: size.width.rounded(), height: size.height.rounded())
        let size = self.size(of: whole, ratio: ratio, in: box)
        return ImageRect(
            x: ((box.width - size.width.rounded(.up)) / 2).rounded(.towardZero),
            y: ((box.height - size.height.rounded(.up)) / 2).rounded(.towardZero),
            width: size.width,
            height: size.height
        )
    }
}
