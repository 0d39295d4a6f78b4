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
    /// The blurred image that a hash describes, in the given ratio of width to height, which the hash does not contain.
    case blurHash(BlurHash, aspectRatio: Double = 1)

    /// Returns the content to draw; nil if there is none.
    @MainActor
    func content(for view: UnsafeMutableRawPointer) -> PaintableContent? {
        switch self {
        case .image(let image): return PaintableContent(image)
        case .thumbHash(let hash): return (try? hash.makeImage()).flatMap { PaintableContent($0) }
        case .blurHash(let hash, let ratio):
            let size = Self.blurHashSize(aspectRatio: ratio)
            return (try? hash.makeImage(width: size.width, height: size.height)).flatMap { PaintableContent($0) }
        case .paintable(let reference): return .paintable(reference.reference)
        case .icon(let name): return ThemeIcon.named(name, for: view)
        }
    }
}

extension ViewPlaceholder {
    /// The pixels of a BlurHash's image: 32 on the longer side, as in a ThumbHash's. A ratio that is not a positive number counts as 1.
    static func blurHashSize(aspectRatio: Double) -> (width: Int, height: Int) {
        guard aspectRatio > 0, aspectRatio.isFinite else { return (32, 32) }
        func shorter(_ side: Double) -> Int { max(1, Int(side.rounded())) }
        return aspectRatio > 1 ? (32, shorter(32 / aspectRatio)) : (shorter(32 * aspectRatio), 32)
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
