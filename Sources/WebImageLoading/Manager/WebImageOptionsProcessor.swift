public import FoundationEssentials

/// Changes options and context of every load of a manager before anything else, for example to add a header field for all images
/// of one host, or a thumbnail size for those under a path.
public final class WebImageOptionsProcessor: Sendable {
    private let body: @Sendable (URL?, WebImageOptions, WebImageContext) -> WebImageOptionsResult?

    /// Creates a processor from a closure. The closure is called on the thread that starts the load and must be quick; returning
    /// nil changes nothing.
    ///
    /// The context contains the manager's own transformer, key filter and serializer where the load gave none. If the URL is nil,
    /// the load fails whatever the closure returns.
    public init(
        _ body:
            @escaping @Sendable (_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext) ->
            WebImageOptionsResult?
    ) { self.body = body }

    /// Returns the options and context for the load; nil to leave them unchanged.
    package func process(
        _ url: URL?,
        options: WebImageOptions,
        context: WebImageContext
    ) -> WebImageOptionsResult? { body(url, options, context) }
}

/// The result of a ``WebImageOptionsProcessor``.
public struct WebImageOptionsResult: Sendable {
    /// The options that replace the load's.
    public var options: WebImageOptions
    /// The context that replaces the load's.
    public var context: WebImageContext

    /// Creates a result of options and a context.
    public init(options: WebImageOptions, context: WebImageContext) {
        self.options = options
        self.context = context
    }
}
