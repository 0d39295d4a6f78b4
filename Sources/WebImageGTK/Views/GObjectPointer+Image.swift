public import FoundationEssentials
public import WebImage

/// Images of widgets: a `GtkPicture`, a `GtkImage`, a `GtkButton`, or with a setter any widget. Everything here is for the main thread.
extension GObjectPointer {
    /// Shows the image of a URL.
    ///
    /// An image in memory is shown when the call returns. Otherwise the view shows the placeholder, and then the image, decoded at the
    /// size of the view (see ``usesAutomaticThumbnailSize``). The load before in the same slot is cancelled, so that a cell that is used
    /// again never shows the former image.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows only the placeholder and ends with ``WebImageError/Code/invalidURL``.
    ///   - slot: where the image is shown; nil, the default, for the slot that ``WebImageContext/setImageOperationKey`` names, else
    ///     ``ImageSlot/image``.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: how the load behaves; see
    ///     ``setImage(with:in:placeholder:options:context:progress:setter:completed:)``.
    ///   - context: what the load uses in place of the defaults.
    ///   - completed: called once on the main thread, when the view has the image or there is none; with
    ///     ``WebImageOptions/refreshCached`` once more if there is something newer.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`, and for slots of button states and backgrounds a `GtkButton`. A widget of another kind
    ///   than `GtkPicture`, `GtkImage` and `GtkButton` shows nothing, but loads.
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
    /// when the widget is destroyed. What is drawn is up to the setter: no transition runs, an animation is its first frame (the result
    /// contains the other frames), and no more pixels are loaded when the widget grows.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows only the placeholder and ends with ``WebImageError/Code/invalidURL``.
    ///   - slot: where the image is shown; nil, the default, for the slot that ``WebImageContext/setImageOperationKey`` names, else
    ///     ``ImageSlot/image``. With a setter, the slot only says which load is cancelled.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: how the load behaves; of those of views here: ``WebImageOptions/delayPlaceholder``,
    ///     ``WebImageOptions/avoidAutoSetImage``, ``WebImageOptions/avoidAutoCancelImage``, ``WebImageOptions/forceTransition``,
    ///     ``WebImageOptions/waitTransition``.
    ///   - context: what the load uses in place of the defaults; ``WebImageContext/customManager`` is the manager that loads. Its callback
    ///     queue is ignored: every closure is called on the main thread.
    ///   - progress: called while bytes arrive, with the latest reading, no more often than the main loop has time.
    ///   - setter: called with what the widget is to show: a `GdkPaintable`, which for images is a `GdkTexture`, or nil to be cleared. To
    ///     keep it after the call, take a reference, as GTK's functions do. `result` is nil for the placeholder, and there is a result
    ///     for each image, previews too. Released after its last call.
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
    /// It has a separate label, so that an `async` function can also begin a load without waiting for it.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - slot: where the image is shown; nil, the default, for the slot that ``WebImageContext/setImageOperationKey`` names, else
    ///     ``ImageSlot/image``.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: how the load behaves. With ``WebImageOptions/refreshCached`` it returns with the first image.
    ///   - context: what the load uses in place of the defaults.
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
    /// Before a view has an allocated or requested size, images are decoded at full size unless it has a ``preferredPixelSize``, and are
    /// decoded again once they have been drawn much smaller.
    @MainActor
    public var usesAutomaticThumbnailSize: Bool {
        get { ViewState.existing(gobjectPointer)?.usesAutomaticThumbnailSize ?? true }
        nonmutating set { ViewState.of(gobjectPointer).usesAutomaticThumbnailSize = newValue }
    }

    /// A Boolean value that indicates whether the view is highlighted: while the pointer is over it, while it is pressed or selected (its
    /// own state flags `PRELIGHT`, `ACTIVE`, `SELECTED`), or while this is set to true. Setting it to false leaves it to the flags.
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
