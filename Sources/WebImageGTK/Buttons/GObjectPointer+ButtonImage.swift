public import FoundationEssentials
public import WebImage

/// Pictures of a button (`GtkButton`, `GtkToggleButton`, …), one for each state. Everything here is for the main thread.
///
/// The button's child becomes a `GtkPicture`, in the place of a label or icon that it had; the text of a label stays as the button's name for
/// those who do not see it. Pictures that move do so.
extension GObjectPointer {
    /// Shows the picture of a URL while the button is in a state.
    ///
    /// The rest is as for ``setImage(with:placeholder:options:context:progress:completed:)``: decoded for the size of the button, and
    /// led to by ``imageTransition`` while the state is seen.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil leaves the placeholder alone and ends with ``WebImageError/Code/invalidURL``.
    ///   - state: when it is seen; ``ButtonState/normal`` also in states that have none of their own.
    ///   - placeholder: shown until the picture is there; nil clears the picture of a state.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults; its slot is always ``imageOperationKey(for:)``.
    ///   - progress: called while bytes arrive.
    ///   - completed: called once, when the button has the picture or there is none.
    /// - Returns: the load; nil without a URL.
    /// - Precondition: the object is a `GtkButton`.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        for state: ButtonState,
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
        return ViewState.of(gobjectPointer).loadButton(request, .image, state)
    }

    /// Shows the picture of a URL while the button is in a state, as the form with `progress` does.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - state: when it is seen.
    ///   - placeholder: shown until the picture is there.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - completed: called once on the main thread, when the view has the picture or there is none.
    /// - Returns: the load; nil without a URL.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        for state: ButtonState,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        setImage(
            with: url,
            for: state,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: nil,
            completed: completed
        )
    }

    /// Shows the picture of a URL while the button is in a state, and returns when the button has it. Cancelling the task
    /// cancels the load.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - state: when it is seen.
    ///   - placeholder: shown until the picture is there; nil clears the picture of a state.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - progress: called while bytes arrive.
    /// - Throws: why there is no picture; ``WebImageError/Code/cancelled`` also when another load takes its place.
    /// - Precondition: the object is a `GtkButton`.
    @MainActor @discardableResult
    public func setImage(
        awaiting url: URL?,
        for state: ButtonState,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        try await AwaitedLoad.result { completed in
            setImage(
                with: url,
                for: state,
                placeholder: placeholder,
                options: options,
                context: context,
                progress: progress,
                completed: completed
            )
        }
    }

    /// The slot of the picture of a state.
    ///
    /// - Parameter state: of the button.
    public func imageOperationKey(for state: ButtonState) -> String { ButtonRole.image.key(for: state) }

    /// The URL of the latest call that set the picture of a state; nil if there was none.
    ///
    /// - Parameter state: of the button.
    @MainActor
    public func imageURL(for state: ButtonState) -> URL? {
        ViewState.existing(gobjectPointer)?.slots[ButtonRole.image.key(for: state)]?.loadState?.url
    }

    /// The URL that was set for the state that the button is in, else the one for ``ButtonState/normal``.
    @MainActor
    public var currentImageURL: URL? { imageURL(for: .of(gobjectPointer)) ?? imageURL(for: .normal) }

    /// Cancels the load of the picture of a state. Its completion is called before this returns.
    ///
    /// - Parameter state: of the button.
    @MainActor
    public func cancelImageLoad(for state: ButtonState) {
        ViewState.existing(gobjectPointer)?.cancel(ButtonRole.image.key(for: state))
    }

    /// The `GtkPicture` that shows pictures, to be laid out otherwise or described; nil before one was set. It belongs to the button.
    @MainActor
    public var buttonPicture: OpaquePointer? {
        ViewState.existing(gobjectPointer)?.button?.picture(.image).map { OpaquePointer($0) }
    }
}
