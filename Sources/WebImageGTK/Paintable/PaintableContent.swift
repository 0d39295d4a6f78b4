import CWebImageGTK4
import WebImage

/// The content of a view: an image, or a GTK paintable in place of one.
@MainActor
enum PaintableContent {
    /// Pixels, and their intrinsic size in points.
    case texture(Texture, size: ImageSize)
    /// An icon or any other paintable, which may change.
    case paintable(ObjectReference)

    /// Creates content whose intrinsic size is that of the image's source, so that a thumbnail takes as much space as the full image; nil
    /// if memory is insufficient.
    init?(_ image: Image) {
        guard let texture = Texture.of(image) else { return nil }
        self = .texture(texture, size: image.naturalSize)
    }

    /// The image; nil for other paintables.
    var image: Image? {
        guard case .texture(let texture, _) = self else { return nil }
        return texture.image
    }

    /// The `GdkPaintable`; for an image, a `GdkTexture`.
    var pointer: OpaquePointer {
        switch self {
        case .texture(let texture, _): texture.pointer
        case .paintable(let reference): reference.pointer.opaque
        }
    }

    /// The intrinsic size in points; 0 for none.
    var size: ImageSize {
        switch self {
        case .texture(_, let size): size
        case .paintable(let reference):
            ImageSize(
                width: Double(gdk_paintable_get_intrinsic_width(reference.pointer.opaque)),
                height: Double(gdk_paintable_get_intrinsic_height(reference.pointer.opaque))
            )
        }
    }

    /// The aspect ratio; 0 for any.
    var ratio: Double {
        switch self {
        case .texture(let texture, _):
            Double(gdk_texture_get_width(texture.pointer)) / Double(gdk_texture_get_height(texture.pointer))
        case .paintable(let reference): gdk_paintable_get_intrinsic_aspect_ratio(reference.pointer.opaque)
        }
    }

    /// True if the content is a GTK paintable.
    var isPaintable: Bool {
        if case .paintable = self { true } else { false }
    }

    /// True if all pixels are opaque; false if unknown.
    var isOpaque: Bool {
        guard case .texture(let texture, _) = self else { return false }
        return texture.image.bitmap.pixelFormat == .rgb8
    }

    /// Draws the content into a rectangle.
    ///
    /// - Parameter color: the colour of symbolic icons; nil for GTK's.
    func draw(into snapshot: OpaquePointer, _ rect: ImageRect, color: GdkRGBA? = nil) {
        guard rect.width > 0, rect.height > 0 else { return }
        switch self {
        case .texture(let texture, _):
            var bounds = rect.graphene
            gtk_snapshot_append_texture(snapshot, texture.pointer, &bounds)
        case .paintable(let reference):
            gtk_snapshot_save(snapshot)
            var origin = graphene_point_t(x: Float(rect.x), y: Float(rect.y))
            gtk_snapshot_translate(snapshot, &origin)
            if let color, reference.pointer.isA(gtk_symbolic_paintable_get_type()) {
                gtk_symbolic_paintable_snapshot_symbolic(
                    reference.pointer.opaque,
                    snapshot,
                    rect.width,
                    rect.height,
                    [color],
                    1
                )
            } else {
                gdk_paintable_snapshot(reference.pointer.opaque, snapshot, rect.width, rect.height)
            }
            gtk_snapshot_restore(snapshot)
        }
    }
}

extension ImageRect {
    /// The rectangle as a graphene type.
    var graphene: graphene_rect_t {
        graphene_rect_t(
            origin: graphene_point_t(x: Float(x), y: Float(y)),
            size: graphene_size_t(width: Float(width), height: Float(height))
        )
    }
}

extension Image {
    /// The size in points of the source image; the image's own size if a transformer may have changed the shape.
    var naturalSize: ImageSize {
        guard metadata.isThumbnail || metadata.scaleDownLimitBytes > 0, !metadata.isTransformed,
            metadata.sourceWidth > 0, metadata.sourceHeight > 0
        else { return size }
        let (width, height) = (Double(metadata.sourceWidth) / scale, Double(metadata.sourceHeight) / scale)
        let isTurned = metadata.sourceOrientation.swapsSides
        let natural = ImageSize(width: isTurned ? height : width, height: isTurned ? width : height)
        // A stretched thumbnail keeps its own shape.
        let ratios = (natural.width * size.height, natural.height * size.width)
        let tolerance = max(natural.width, natural.height) * 1.5
        return abs(ratios.0 - ratios.1) <= tolerance ? natural : size
    }
}
