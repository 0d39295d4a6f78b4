import CWebImageGTK4
public import WebImage

/// What a view shows until its picture is there.
public enum ViewPlaceholder: Sendable {
    /// An image.
    case image(Image)
    /// An icon of the user's theme, such as `image-missing`: 48 points big in the middle of the view, smaller in a view that is, and of its
    /// pixel size in a `GtkImage` that was given one.
    case icon(name: String)
    /// A `GdkPaintable`.
    case paintable(PaintableReference)
    /// The blurred picture that a hash describes.
    case thumbHash(ThumbHash)

    /// What is drawn; nil when there is nothing to draw.
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

/// Keeps a `GdkPaintable`.
public struct PaintableReference: Sendable {
    let reference: ObjectReference

    /// Keeps a paintable. Main thread.
    ///
    /// - Precondition: the object is a `GdkPaintable`.
    @MainActor
    public init(_ paintable: any GObjectPointer) {
        precondition(paintable.gobjectPointer.isA(gdk_paintable_get_type()), "not a GdkPaintable")
        reference = ObjectReference(retaining: paintable.gobjectPointer)
    }
}
