public import FoundationEssentials
public import WebImage

/// Images of widgets: a `GtkPicture`, a `GtkImage`, a `GtkButton`, or with a setter any widget. Everything here is for the main thread.
extension GObjectPointer {
    /// Shows the image of a URL.
    ///
    /// An image in memory is shown when the call returns. Otherwise the view shows the placeholder, and then the image, decoded at the
    /// size of the view (see ``usesAutomaticThumbnailSize``). The previous load in the same slot is cancelled, so a reused cell never shows
    /// the wrong image.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows only the placeholder and ends with ``WebImageError/Code/invalidURL``.
    ///   - slot: the slot that shows the image. Nil, the default, means the slot that ``WebImageContext/setImageOperationKey`` names, or
    ///     ``ImageSlot/image`` if it names none.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: the behaviour of the load; see
    ///     ``setImage(with:in:placeholder:options:context:progress:setter:completed:)``.
    ///   - context: overrides of the manager's components and defaults.
    ///   - completed: called once on the main thread, when the view has the image or there is none; with
    ///     ``WebImageOptions/refreshCached`` once more if there is something newer.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`, and for slots of button states and backgrounds a `GtkButton`. Other widgets
    ///   than `GtkPicture`, `GtkImage` and `GtkButton` load the image, but do not show it.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        in slot: ImageSlot? = nil,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        setImage(
            with: url,
            in: slot,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: nil,
            setter: nil,
            completed: completed
        )
    }

    /// Shows the image of a URL, reports progress, and shows it with a closure if there is one.
    ///
    /// A setter is for widgets that are not a `GtkPicture`, `GtkImage` or `GtkButton`, and for showing images in another way. All the
    /// rest is the same: the slot has one load at a time, the image is decoded for the size of the widget, and the load is cancelled
    /// when the widget is destroyed. The setter decides how to draw: no transition runs, an animation is passed as its first frame (the
    /// result contains all frames), and the image is not loaded again when the widget grows.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows only the placeholder and ends with ``WebImageError/Code/invalidURL``.
    ///   - slot: the slot that shows the image. Nil, the default, means the slot that ``WebImageContext/setImageOperationKey`` names, or
    ///     ``ImageSlot/image`` if it names none. With a setter, the slot only says which load is cancelled.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: the behaviour of the load. These apply only to views: ``WebImageOptions/delayPlaceholder``,
    ///     ``WebImageOptions/avoidAutoSetImage``, ``WebImageOptions/avoidAutoCancelImage``, ``WebImageOptions/forceTransition``,
    ///     ``WebImageOptions/waitTransition``.
    ///   - context: overrides of the manager's components and defaults; ``WebImageContext/customManager`` is the manager that loads.
    ///     ``WebImageContext/callbackQueue`` is ignored: every closure is called on the main thread.
    ///   - progress: called while bytes arrive, with the latest reading, no more often than the main loop has time.
    ///   - setter: called with the `GdkPaintable` to show (for images a `GdkTexture`), or with nil to clear the widget. To
    ///     keep it after the call, take a reference, as GTK's functions do. `result` is nil for the placeholder. Called for
    ///     previews only with ``WebImageOptions/progressiveLoad``. Released after its last call.
    ///   - completed: called once, when the view has the image or there is none; with ``WebImageOptions/refreshCached`` once more if
    ///     there is something newer, and with ``WebImageOptions/avoidAutoSetImage`` and ``WebImageOptions/progressiveLoad`` for each
    ///     preview before. With ``WebImageError/Code/cancelled`` when another load takes its place or the view is destroyed; loads that
    ///     it begins in the same slot when another load takes its place are ignored. Released after its last call.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`, and without a setter for slots of button states and backgrounds a `GtkButton`.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        in slot: ImageSlot? = nil,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil,
        setter: (@MainActor (_ paintable: OpaquePointer?, _ result: WebImageResult?) -> Void)? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        let request = ViewLoad.Request(
            url: url,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: progress,
            completed: completed
        )
        return ViewState.of(gobjectPointer).load(request, in: slot, setter: setter)
    }

    /// Shows the image of a URL, and returns when the view has it. Cancelling the task cancels the load.
    ///
    /// The label `awaiting` leaves ``setImage(with:in:placeholder:options:context:completed:)`` to `async` functions that do not wait.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - slot: the slot that shows the image. Nil, the default, means the slot that ``WebImageContext/setImageOperationKey`` names, or
    ///     ``ImageSlot/image`` if it names none.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: the behaviour of the load. With ``WebImageOptions/refreshCached`` it returns with the first image.
    ///   - context: overrides of the manager's components and defaults.
    ///   - progress: called on the main thread while bytes arrive.
    ///   - setter: shows the image, if the view is not to do so; see
    ///     ``setImage(with:in:placeholder:options:context:progress:setter:completed:)``.
    /// - Throws: the load's error; ``WebImageError/Code/cancelled`` also when another load takes its place.
    @MainActor @discardableResult
    public func setImage(
        awaiting url: URL?,
        in slot: ImageSlot? = nil,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil,
        setter: (@MainActor (_ paintable: OpaquePointer?, _ result: WebImageResult?) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        try await AwaitedLoad.result { completed in
            setImage(
                with: url,
                in: slot,
                placeholder: placeholder,
                options: options,
                context: context,
                progress: progress,
                setter: setter,
                completed: completed
            )
        }
    }

    /// The URL of the latest call that set an image, in any slot; nil if there was none.
    @MainActor
    public var imageURL: URL? { latestLoadState?.url }

    /// The progress of the latest image.
    @MainActor
    public var imageProgress: LoadProgress {
        latestLoadState?.progress ?? LoadProgress(receivedByteCount: 0, expectedByteCount: nil)
    }

    /// The transition used when an image arrives asynchronously. nil, the default, means none.
    @MainActor
    public var imageTransition: WebImageTransition? {
        get { ViewState.existing(gobjectPointer)?.transition }
        nonmutating set { ViewState.of(gobjectPointer).transition = newValue }
    }

    /// The loading indicator; nil, the default, means none. Each view needs a separate object.
    ///
    /// An indicator that is set during a load takes over from the previous one.
    @MainActor
    public var imageIndicator: (any WebImageIndicator)? {
        get { ViewState.existing(gobjectPointer)?.indicator }
        nonmutating set { ViewState.of(gobjectPointer).indicator = newValue }
    }

    /// A Boolean value that determines whether images are decoded at the size of the view in pixels, and again when it grows; true by
    /// default. ``WebImageContext/thumbnailPixelSize`` of a load takes precedence.
    ///
    /// ``preferredPixelSize``, if set, replaces the size of the view. Without it, and before the view has an allocated or requested size,
    /// images are decoded at full size, and decoded again once they have been drawn much smaller.
    @MainActor
    public var usesAutomaticThumbnailSize: Bool {
        get { ViewState.existing(gobjectPointer)?.usesAutomaticThumbnailSize ?? true }
        nonmutating set { ViewState.of(gobjectPointer).usesAutomaticThumbnailSize = newValue }
    }

    /// A Boolean value that indicates whether the view is highlighted: while the pointer is over it, while it is pressed or selected (its
    /// own state flags `PRELIGHT`, `ACTIVE`, `SELECTED`), or while this is set to true. After it is set to false, only the flags determine
    /// it.
    ///
    /// - Precondition: the object is a `GtkWidget`.
    @MainActor
    public var isHighlighted: Bool {
        get {
            ViewState.existing(gobjectPointer)?.highlight?.isHighlighted
                ?? HighlightController.isHighlighted(gobjectPointer)
        }
        nonmutating set {
            let state = ViewState.of(gobjectPointer)
            if !state.isLeaving { state.makeHighlight().isForced = newValue }
        }
    }
}
