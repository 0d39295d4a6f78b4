public import FoundationEssentials
public import WebImage

/// Pictures in widgets of every kind, which somebody else knows how to show. Everything here is for the main thread.
extension GObjectPointer {
    /// Loads the picture of a URL for a widget, and gives it to a closure that shows it: for widgets that are neither `GtkPicture`, `GtkImage`
    /// nor `GtkButton`, or to show it in another way.
    ///
    /// All the rest is as for ``setImage(with:placeholder:options:context:progress:completed:)``: the slot is the same one and has one load at a
    /// time, the picture is decoded for the size of the widget, and the load is cancelled with it. What is drawn is the closure's
    /// business: there is no transition, an animation is its first frame (the result has the rest), and no more pixels are loaded
    /// when the widget grows.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data; nil shows the placeholder alone and ends with ``WebImageError/Code/invalidURL``.
    ///   - placeholder: given to `setter` before the picture; nil clears the widget.
    ///   - options: how the load behaves. With ``WebImageOptions/avoidAutoSetImage`` the picture is for `completed` alone.
    ///   - context: what the load uses in place of the defaults.
    ///   - progress: called while bytes arrive.
    ///   - setter: called with what the widget is to show: a `GdkPaintable`, which for pictures is a `GdkTexture`, or nil to be cleared. Whoever
    ///     wants it after the call takes a reference, as GTK's functions do. `result` is nil for the placeholder, and there is a result
    ///     for each picture, previews too. Let go of after the last time.
    ///   - completed: called once, after `setter`, when there is a picture or there is none; more often in the cases in which that form does.
    /// - Returns: the load, to cancel it or change its priority; nil without a URL.
    /// - Precondition: the object is a `GtkWidget`.
    @MainActor @discardableResult
    public func setImage(
        with url: URL?,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil,
        setter: @escaping @MainActor (_ paintable: OpaquePointer?, _ result: WebImageResult?) -> Void,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        let request = ViewLoad.Request(
            url: url,
            placeholder: placeholder,
            options: options,
            context: context,
            progress: progress,
            completed: completed,
            hasOwnSetter: true
        )
        let state = ViewState.of(gobjectPointer)
        return state.load(request, key: state.pictureKey) { content, result in setter(content?.pointer, result) }
    }

    /// Loads the picture of a URL for a widget, gives it to a closure that shows it, and returns then. Cancelling the task cancels the load.
    ///
    /// - Parameters:
    ///   - url: http, https, file or data.
    ///   - placeholder: given to `setter` before the picture; nil clears the widget.
    ///   - options: how the load behaves.
    ///   - context: what the load uses in place of the defaults.
    ///   - progress: called while bytes arrive.
    ///   - setter: called with a `GdkPaintable` to be shown, or with nil to clear the widget; `result` is nil for the placeholder.
    /// - Throws: why there is no picture; ``WebImageError/Code/cancelled`` also when another load takes its place.
    @MainActor @discardableResult
    public func setImage(
        awaiting url: URL?,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil,
        setter: @escaping @MainActor (_ paintable: OpaquePointer?, _ result: WebImageResult?) -> Void
    ) async throws(WebImageError) -> WebImageResult {
        try await AwaitedLoad.result { completed in
            setImage(
                with: url,
                placeholder: placeholder,
                options: options,
                context: context,
                progress: progress,
                setter: setter,
                completed: completed
            )
        }
    }
}
