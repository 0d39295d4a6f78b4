import CWebImageGTK4
public import FoundationEssentials
public import WebImage

extension GObjectPointer {
    /// Shows the image of a URL that the user can zoom, at any size: a `GtkPicture`, as a rule in a `GtkScrolledWindow`.
    ///
    /// The view first shows the image as ``setImage(with:in:placeholder:options:context:completed:)`` does, fitting into its area. When it is
    /// zoomed, an image of more than 2048 pixels on a side is drawn in tiles: only the visible part of it is decoded, at the resolution of the
    /// screen, near the pointer first, on the library's threads. Until a tile is there, the image is drawn with the pixels that are. Memory
    /// depends on the size of the screen, not on that of the image.
    ///
    /// Animated and transformed images, images that are decoded by a custom coder, and those of a manager with a policy for untrusted sources have no
    /// tiles: they are decoded for the zoomed size as a whole.
    ///
    /// The limit of the number of pixels (``ImageLimits/maximumPixelCount``) does not apply to the image, but to what is decoded at a time, unless
    /// the context has ``WebImageContext/decodeOptions``, or the manager has a policy for untrusted sources.
    ///
    /// For the gestures, and to set the zoom, see ``ZoomableImageView``.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows only the placeholder and ends with ``WebImageError/Code/invalidURL``.
    ///   - placeholder: shown until the image is there; nil clears the view.
    ///   - options: the behaviour of the load; see
    ///     ``setImage(with:in:placeholder:options:context:progress:setter:completed:)``.
    ///   - context: overrides of the manager's components and defaults.
    ///   - completed: called once on the main thread, when the view has the image or there is none; with
    ///     ``WebImageOptions/refreshCached`` once more if there is something newer.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`. Other widgets than a `GtkPicture` show the image as `setImage` does.
    @MainActor @discardableResult
    public func setZoomableImage(
        with url: URL?,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        let state = ViewState.of(gobjectPointer)
        guard !state.isLeaving, gobjectPointer.isA(gtk_picture_get_type()) else {
            return setImage(
                with: url,
                placeholder: placeholder,
                options: options,
                context: context,
                completed: completed
            )
        }
        state.makeZoom().reset()
        let tiled = state.makeTiledImage()
        return setImage(
            with: url,
            placeholder: placeholder,
            options: options,
            context: TileSource.context(for: context),
            completed: { [weak tiled] result in
                if case .success(let loaded) = result, let url { tiled?.open(loaded, url, options, context) }
                completed?(result)
            }
        )
    }
}
