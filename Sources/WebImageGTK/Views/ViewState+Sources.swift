import CWebImageGTK4
import FoundationEssentials
public import WebImage

extension GObjectPointer {
    /// Shows an image that is available in several sizes: the smallest candidate that has enough pixels for the view, or a larger one that
    /// is cached. When the view grows past it, the next one is loaded.
    ///
    /// While the network is metered (as `GNetworkMonitor` reports), the next smaller candidate is loaded, unless
    /// ``ImageSource/lowData`` says otherwise. The density of a view is its scale factor. All else is as in
    /// ``setImage(with:in:placeholder:options:context:completed:)``.
    ///
    /// - Parameters:
    ///   - source: the candidates; without any, the load ends with ``WebImageError/Code/invalidURL``.
    ///   - slot: the slot that shows the image; nil, the default, for the usual one.
    ///   - placeholder: shown until the image is there; nil clears the slot.
    ///   - options: the behaviour of the load.
    ///   - context: overrides of the manager's components and defaults.
    ///   - completed: called once on the main thread, when the view has the image or there is none.
    /// - Returns: the load, to cancel it or change its priority; nil without a candidate.
    @MainActor @discardableResult
    public func setImage(
        with source: ImageSource,
        in slot: ImageSlot? = nil,
        placeholder: ViewPlaceholder? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        completed: (@MainActor (Result<WebImageResult, WebImageError>) -> Void)? = nil
    ) -> WebImageLoadOperation? {
        let request = ViewLoad.Request(
            source: source,
            placeholder: placeholder,
            options: options,
            context: context,
            completed: completed
        )
        return ViewState.of(gobjectPointer).load(request, in: slot, setter: nil)
    }
}

extension ViewState {
    /// Returns the URL of a source to load in this view; nil without candidates.
    func url(of source: ImageSource, _ context: WebImageContext) -> URL? {
        (context.customManager ?? .shared).knownURL(
            for: source,
            context: context,
            density: Double(gtk_widget_get_scale_factor(view.widget)),
            lowData: source.lowData ?? Self.isNetworkMetered
        )
    }

    /// True if the system reports that the network is metered.
    private static var isNetworkMetered: Bool {
        g_network_monitor_get_network_metered(g_network_monitor_get_default()) != 0
    }
}
