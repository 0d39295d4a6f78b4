import CWebImageGTK4
import WebImage

/// What is drawn of content that moves.
enum PaintableFrame {
    /// The content as it is.
    case poster
    /// Nothing yet.
    case awaited
    /// A frame, in the place of the content.
    case texture(Texture)
}

extension ImagePaintable {
    /// What is seen when no transition runs; nil for nothing.
    var visibleContent: PaintableContent? {
        if let substitute { return substitute }
        guard let content else { return nil }
        return switch frame {
        case .poster: content
        case .awaited: nil
        case .texture(let texture): .texture(texture, size: content.size)
        }
    }

    /// Draws what is seen into the room that the content has.
    func drawVisible(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        guard let visible = visibleContent else { return }
        var rect = ImageRect(x: 0, y: 0, width: width, height: height)
        // Frames seldom have another shape; what stands for the content may.
        let ratio = content?.ratio ?? 0
        if visible.ratio > 0, ratio <= 0 || abs(visible.ratio / ratio - 1) > 0.02 {
            rect = ViewPlace(view.pointer, drawing: content, width, height).rect(of: visible)
        }
        visible.draw(into: snapshot, rect, color: color)
    }
}
