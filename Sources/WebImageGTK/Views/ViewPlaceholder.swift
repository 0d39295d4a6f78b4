import CWebImageGTK4
public import WebImage

/// What a view shows until its picture is there.
public enum ViewPlaceholder: Sendable {
    /// An image.
    case image(Image)
    /// An icon of the user's theme, such as `image-missing`.
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
        case .icon(let name):
            let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(view.widget))
            let icon = gtk_icon_theme_lookup_icon(
                theme,
                name,
                nil,
                48,
                gtk_widget_get_scale_factor(view.widget),
                gtk_widget_get_direction(view.widget),
                GtkIconLookupFlags(rawValue: 0)
            )
            return icon.map { .paintable(ObjectReference(adopting: UnsafeMutableRawPointer($0))) }
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
