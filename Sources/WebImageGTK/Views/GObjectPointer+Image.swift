public import FoundationEssentials
public import WebImage

/// Image views: a `GtkPicture` or a `GtkImage`. Everything here is for the main thread.
extension GObjectPointer {
    /// Shows the picture of a URL.
    ///
    /// What lies in memory is there when the call returns. Otherwise the view shows the placeholder, and then the picture, decoded at the
    /// size that the view has (see ``usesAutomaticThumbnailSize``). A load that is under way for the same slot of the view is
    /// cancelled, so a cell that is used again never shows the picture of before.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows the placeholder alone and ends with ``WebImageError/Code/invalidURL``.
    ///   - placeholder: shown until the picture is there; nil clears the view.
    ///   - options: how the load behaves; of those of views here: ``WebImageOptions/delayPlaceholder``,
    ///     ``WebImageOptions/avoidAutoSetImage``, ``WebImageOptions/avoidAutoCancelImage``, ``WebImageOptions/forceTransition``,
    ///     ``WebImageOptions/waitTransition``.
    ///   - context: what the load uses in place of the defaults; ``WebImageContext/setImageOperationKey`` names the slot,
    ///     ``WebImageContext/customManager`` who loads. Its callback queue is not looked at: everything is told on the main thread.
    ///   - progress: called while bytes arrive, with the latest reading, no more often than the main loop has time.
    ///   - completed: called once, when the view has the picture or there is none; with ``WebImageOptions/refreshCached`` once more if
    ///     there is something newer, and with ``WebImageOptions/avoidAutoSetImage`` and ``WebImageOptions/progressiveLoad`` for each
    ///     preview before. With ``WebImageError/Code/cancelled`` when another load takes its place or the view is destroyed; what it
    ///     begins in the same slot when another load takes its place is not loaded. It is let go of after the last time.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`. A `GtkButton` shows the picture as that of ``ButtonState/normal``; any other that is
    ///   neither `GtkPicture` nor `GtkImage` shows nothing, but loads.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)?,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)?
    ) -> WebImageLoadOperation? {
        let request = ViewLoad.Request(
            url: url,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: progress,
            completed: completed
        )
        return ViewState.of(gobjectPointer).loadPicture(request)
    }

    /// Shows the picture of a URL, as the form with `progress` does.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows the placeholder alone and ends with ``WebImageError/Code/invalidURL``.
    ///   - placeholder: shown until the picture is there; nil clears the view.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - completed: called once on the main thread, when the view has the picture or there is none; with
    ///     ``WebImageOptions/refreshCached`` once more if there is something newer.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        setImage(
            with: url,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: nil,
            completed: completed
        )
    }

    /// Shows the picture of a URL, and returns when the view has it. Cancelling the task cancels the load.
    ///
    /// It has a label of its own, so that a function that is `async` can also begin a load and go on.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - placeholder: shown until the picture is there; nil clears the view.
    ///   - options: how the load behaves. With ``WebImageOptions/refreshCached`` it returns with the first picture.
    ///   - context: what the load uses in place of the defaults.
    ///   - progress: called on the main thread while bytes arrive.
    /// - Throws: why there is no picture; ``WebImageError/Code/cancelled`` also when another load takes its place.
    @MainActor @discardableResult
    public func setImage(
        awaiting url: URL?,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        try await AwaitedLoad.result { completed in
            setImage(
                with: url,
                placeholder: placeholder,
                options: options,
                context: context,
                progress: progress,
                completed: completed
            )
        }
    }

    /// Cancels the load of the view's picture. Its completion is called before this returns.
    @MainActor
    public func cancelCurrentImageLoad() {
        guard let state = ViewState.existing(gobjectPointer) else { return }
        state.cancel(state.pictureKey)
    }

    /// The URL of the latest call that set a picture, in whatever slot; nil if there was none.
    @MainActor
    public var imageURL: URL? { latestLoadState?.url }

    /// How much of the latest picture has come.
    @MainActor
    public var imageProgress: LoadProgress {
        latestLoadState?.progress ?? LoadProgress(receivedByteCount: 0, expectedByteCount: nil)
    }

    /// Where the latest load stands; nil if there was none.
    @MainActor
    public var latestLoadState: ViewLoadState? {
        guard let state = ViewState.existing(gobjectPointer), let key = state.latestKey else { return nil }
        return state.loadState(key)
    }

    /// What leads to pictures that took time to come; nil, the default, for nothing.
    @MainActor
    public var imageTransition: WebImageTransition? {
        get { ViewState.existing(gobjectPointer)?.transition }
        nonmutating set { ViewState.of(gobjectPointer).transition = newValue }
    }

    /// What shows that a picture is being loaded; nil, the default, for nothing. One object is for one view.
    ///
    /// One that is set while a load is under way takes over from the former.
    @MainActor
    public var imageIndicator: (any WebImageIndicator)? {
        get { ViewState.existing(gobjectPointer)?.indicator }
        nonmutating set { ViewState.of(gobjectPointer).indicator = newValue }
    }

    /// Whether pictures are decoded at the size of the view in pixels, and anew when it grows; true by default. What a load's context says
    /// in ``WebImageContext/thumbnailPixelSize`` comes first.
    ///
    /// Before a view has a size, neither allocated nor requested, pictures come whole unless it has a ``preferredPixelSize``, and are decoded
    /// anew once they have been drawn much smaller.
    @MainActor
    public var usesAutomaticThumbnailSize: Bool {
        get { ViewState.existing(gobjectPointer)?.usesAutomaticThumbnailSize ?? true }
        nonmutating set { ViewState.of(gobjectPointer).usesAutomaticThumbnailSize = newValue }
    }
}
