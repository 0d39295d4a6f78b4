public import WebImage

/// Controls the zoom of a `GtkPicture` that is the child of a `GtkScrolledWindow`. A view can have any number of handles.
///
/// The user zooms with Ctrl and the wheel or with a pinch, both around the pointer, drags the image, and switches between the whole image and its
/// actual size with a double click. Scrollbars, touchpads and kinetic scrolling are those of the scrolled window, whose scrollbar policy, and
/// the picture's size request, alignment and content fit, are set by this. Each new zoomable image fits into the scrolled window.
///
/// After the view has been destroyed, setters do nothing and getters return the defaults. For the main thread.
@MainActor
public final class ZoomableImageView {
    private let view: WeakObject

    /// Creates a handle to a view. It holds only a weak reference. The picture may be put into its scrolled window later.
    ///
    /// - Parameter view: any pointer to it.
    /// - Precondition: the object is a `GtkWidget`. One that is not a `GtkPicture` cannot be zoomed.
    public init(_ view: any GObjectPointer) {
        self.view = WeakObject(view.gobjectPointer)
        _ = ViewState.of(view.gobjectPointer).makeZoom()
    }

    private var part: ZoomController? { view.pointer.flatMap { ViewState.existing($0) }?.zoom }

    /// The zoom: device pixels per pixel of the image. At most 16, or less for sizes that GTK cannot lay out; at least 0.02, or less if the
    /// image then fits. 1 without an image.
    public var zoom: Double { part?.shownZoom ?? 1 }
    /// A Boolean value that indicates whether the image fits into the scrolled window, and continues to when that is resized; true at first.
    /// Small images are not enlarged.
    public var isFitting: Bool { part?.geometry.zoom == nil }
    /// Called when the zoom has changed, and when another image fits.
    public var zoomHandler: (@MainActor () -> Void)? {
        get { part?.zoomHandler }
        set { part?.zoomHandler = newValue }
    }

    /// Sets the zoom, within its limits. Ignored without an image, and outside a scrolled window.
    ///
    /// - Parameters:
    ///   - zoom: device pixels per pixel of the image; 1 is the actual size.
    ///   - place: the point that stays in place, in points of the scrolled window; nil, the default, for the pointer, or the middle if the
    ///     pointer is elsewhere.
    public func setZoom(_ zoom: Double, about place: ImagePoint? = nil) { part?.setZoom(zoom, about: place) }

    /// Zooms in by a quarter.
    public func zoomIn() { part?.zoom(bySteps: 1) }

    /// Zooms out by as much as ``zoomIn()`` zooms in.
    public func zoomOut() { part?.zoom(bySteps: -1) }

    /// Fits the image into the scrolled window.
    public func fit() { part?.fit() }
}
