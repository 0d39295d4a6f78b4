public import FoundationEssentials
public import WebImage

/// Backgrounds of a button, one for each state, behind whatever the button shows. Everything here is for the main thread.
///
/// What the button had, a label for example, stays in front and says how big the button is; without it the background does. The background
/// covers what the button's padding leaves, which style sheets decide, and keeps its shape.
extension GObjectPointer {
    /// Shows the picture of a URL behind what the button shows while the button is in a state.
    ///
    /// The rest is as for ``setImage(with:placeholder:options:context:progress:completed:)``: decoded for the size of the button, and
    /// led to by ``imageTransition`` while the state is seen.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil leaves the placeholder alone and ends with ``WebImageError/Code/invalidURL``.
    ///   - state: when it is seen; ``ButtonState/normal`` also in states that have none of their own.
    ///   - placeholder: shown until the picture is there; nil clears the background of a state.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults; its slot is always ``backgroundImageOperationKey(for:)``.
    ///   - progress: called while bytes arrive.
    ///   - completed: called once, when the button has the picture or there is none.
    /// - Returns: the load; nil without a URL.
    /// - Precondition: the object is a `GtkButton`.
    @MainActor @discardableResult
    public func setBackgroundImage(
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
        return ViewState.of(gobjectPointer).loadButton(request, .background, state)
    }

    /// Shows the picture of a URL behind the button's content while it is in a state, as the form with `progress` does.
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
    public func setBackgroundImage(
        with url: URL?,
        for state: ButtonState,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        setBackgroundImage(
            with: url,
            for: state,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: nil,
            completed: completed
        )
    }

    /// Shows the picture of a URL behind what the button shows while the button is in a state, and returns when the button has it. Cancelling the task
    /// cancels the load.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - state: when it is seen.
    ///   - placeholder: shown until the picture is there; nil clears the background of a state.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - progress: called while bytes arrive.
    /// - Throws: why there is no picture; ``WebImageError/Code/cancelled`` also when another load takes its place.
    /// - Precondition: the object is a `GtkButton`.
    @MainActor @discardableResult
    public func setBackgroundImage(
        awaiting url: URL?,
        for state: ButtonState,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        try await AwaitedLoad.result { completed in
            setBackgroundImage(
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

    /// The slot of the background of a state.
    ///
    /// - Parameter state: of the button.
    public func backgroundImageOperationKey(for state: ButtonState) -> String { ButtonRole.background.key(for: state) }

    /// The URL of the latest call that set the background of a state; nil if there was none.
    ///
    /// - Parameter state: of the button.
    @MainActor
    public func backgroundImageURL(for state: ButtonState) -> URL? {
        ViewState.existing(gobjectPointer)?.slots[ButtonRole.background.key(for: state)]?.loadState?.url
    }

    /// The URL that was set for the state that the button is in, else the one for ``ButtonState/normal``.
    @MainActor
    public var currentBackgroundImageURL: URL? {
        backgroundImageURL(for: .of(gobjectPointer)) ?? backgroundImageURL(for: .normal)
    }

    /// Cancels the load of the background of a state. Its completion is called before this returns.
    ///
    /// - Parameter state: of the button.
    @MainActor
    public func cancelBackgroundImageLoad(for state: ButtonState) {
        ViewState.existing(gobjectPointer)?.cancel(ButtonRole.background.key(for: state))
    }

    /// The `GtkPicture` that shows backgrounds, to be laid out otherwise; nil before one was set. It belongs to the button.
    @MainActor
    public var buttonBackgroundPicture: OpaquePointer? {
        ViewState.existing(gobjectPointer)?.button?.picture(.background).map { OpaquePointer($0) }
    }
}
