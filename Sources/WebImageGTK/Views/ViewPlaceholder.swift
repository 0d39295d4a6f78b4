import CWebImageGTK4
public import WebImage

/// The content of a view until its image has arrived.
public enum ViewPlaceholder: Sendable {
    /// An image.
    case image(Image)
    /// An icon of the user's theme, such as `image-missing`: 48 points in the middle of the view, smaller in a smaller view, and at the
    /// pixel size of a `GtkImage` that has one.
    case icon(name: String)
    /// A `GdkPaintable`.
    case paintable(PaintableReference)
    /// The blurred image that a hash describes.
    case thumbHash(ThumbHash)

    /// Returns the content to draw; nil if there is none.
    @MainActor
    func content(for view: UnsafeMutableRawPointer) -> PaintableContent? {
        switch self {
        case .image(let image): return PaintableContent(image)
        case .thumbHash(let hash): return (try? hash.makeImage()).flatMap { PaintableContent($0) }
        case .paintable(let reference): return .paintable(reference.reference)
        case .icon(let name): return ThemeIcon.named(name, for: view)
        }
    }
}

/// A strong reference to a `GdkPaintable`.
public struct PaintableReference: Sendable {
    let reference: ObjectReference

    /// Retains a paintable. Main thread.
    ///
    /// - Precondition: the object is a `GdkPaintable`.
    @MainActor
    public init(_ paintable: any GObjectPointer) {
        precondition(paintable.gobjectPointer.isA(gdk_paintable_get_type()), "not a GdkPaintable")
        reference = ObjectReference(retaining: paintable.gobjectPointer)
    }
}
