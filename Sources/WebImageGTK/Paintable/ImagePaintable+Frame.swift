import CWebImageGTK4
import WebImage

/// The visible state of animated content.
enum PaintableFrame {
    /// The content as it is.
    case poster
    /// Nothing, until the first frame is available.
    case awaited
    /// A frame in place of the content.
    case texture(Texture)
}

extension ImagePaintable {
    /// The content that is visible when no transition is running; nil for nothing.
    var visibleContent: PaintableContent? {
        if let substitute { return substitute }
        guard let content else { return nil }
        return switch frame {
        case .poster: content
        case .awaited: nil
        case .texture(let texture): .texture(texture, size: content.size)
        }
    }

    /// True if the visible content is a still image, complete and without a substitute.
    var showsStillContent: Bool {
        guard case .poster = frame, substitute == nil, let image = content?.image else { return false }
        return image.animation == nil && !image.metadata.isIncremental
    }

    /// Draws the visible content, in tiles if it has them.
    func drawResting(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        if tiles?(snapshot, width, height) != true { drawVisible(into: snapshot, width, height) }
    }

    /// Draws the visible content into the rectangle of the content.
    func drawVisible(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        guard let visible = visibleContent else { return }
        var rect = ImageRect(x: 0, y: 0, width: width, height: height)
        if !hasShapeOfContent(visible) {
            rect = ViewPlace(view.pointer, drawing: content, width, height).rect(of: visible)
        }
        visible.draw(into: snapshot, rect, color: color)
    }

    /// The visible image or frame, if it fills the rectangle of the content; nil for nothing, and for other paintables.
    var fillingImage: Image? {
        guard let visible = visibleContent, hasShapeOfContent(visible) else { return nil }
        return visible.image
    }

    /// Frames rarely differ in shape from the content; a substitute may.
    private func hasShapeOfContent(_ visible: PaintableContent) -> Bool {
        let ratio = content?.ratio ?? 0
        return visible.ratio <= 0 || ratio > 0 && abs(visible.ratio / ratio - 1) <= 0.02
    }
}
