public import FoundationEssentials
public import WebImage

/// A second picture of an image view, which is seen while the view is highlighted: while the pointer is over it, or it is pressed or
/// selected (its own state flags `PRELIGHT`, `ACTIVE`, `SELECTED`), or ``isHighlighted`` was set. The view keeps the size that its picture
/// gives it. A picture that moves plays on instead. Everything here is for the main thread.
extension GObjectPointer {
    /// Loads the picture of a URL to be shown while the view is highlighted. There is no placeholder: until it is there, and without one,
    /// the view shows its picture.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil takes the picture away and ends with ``WebImageError/Code/invalidURL``.
    ///   - options: how the load behaves, as for ``setImage(with:placeholder:options:context:progress:completed:)``. No transition leads
    ///     to it.
    ///   - context: what the load uses in place of the defaults; its slot is always `"highlightedImage"`.
    ///   - progress: called while bytes arrive.
    ///   - completed: called once, when the view has the picture or there is none.
    /// - Returns: the load; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`; one that is neither `GtkPicture` nor `GtkImage` shows nothing, but loads.
    @MainActor @discardableResult
    public func setHighlightedImage(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)?,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)?
    ) -> WebImageLoadOperation? {
        let request = ViewLoad.Request(
            url: url,
            placeholder: nil,
            options: options,
            context: context,
            progress: progress,
            completed: completed
        )
        return ViewState.of(gobjectPointer).loadHighlighted(request)
    }

    /// Shows the picture of a URL while the view is highlighted, as the form with `progress` does.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - completed: called once on the main thread, when the view has the picture or there is none.
    /// - Returns: the load; nil without a URL.
    @MainActor @discardableResult
    public func setHighlightedImage(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        setHighlightedImage(
            with: url,
            options: options,
            context: context,
            progress: nil,
            completed: completed
        )
    }

    /// Loads the picture of a URL to be shown while the view is highlighted, and returns when the view has it. Cancelling the task cancels
    /// the load.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - progress: called while bytes arrive.
    /// - Throws: why there is no picture; ``WebImageError/Code/cancelled`` also when another load takes its place.
    @MainActor @discardableResult
    public func setHighlightedImage(
        awaiting url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        try await AwaitedLoad.result { completed in
            setHighlightedImage(with: url, options: options, context: context, progress: progress, completed: completed)
        }
    }

    /// The URL of the latest call that set the highlighted image; nil if there was none.
    @MainActor
    public var currentHighlightedImageURL: URL? {
        ViewState.existing(gobjectPointer)?.slots[ViewState.highlightedKey]?.loadState?.url
    }

    /// Cancels the load of the highlighted image. Its completion is called before this returns.
    @MainActor
    public func cancelCurrentHighlightedImageLoad() {
        ViewState.existing(gobjectPointer)?.cancel(ViewState.highlightedKey)
    }

    /// Whether the view is highlighted, by its state flags or because this was set to true. Setting it to false leaves it to the flags.
    ///
    /// - Precondition: the object is a `GtkWidget`.
    @MainActor
    public var isHighlighted: Bool {
        get {
            ViewState.existing(gobjectPointer)?.highlight?.isHighlighted ?? HighlightPart.isHighlighted(gobjectPointer)
        }
        nonmutating set {
            let state = ViewState.of(gobjectPointer)
            if !state.isLeaving { state.makeHighlight().isForced = newValue }
        }
    }
}
