public import FoundationEssentials

/// Changes options and context of every load of a manager before anything else looks at them, for example to give all
/// pictures of one host a header field, or those under a path a thumbnail size.
public final class WebImageOptionsProcessor: Sendable {
    private let body: @Sendable (URL?, WebImageOptions, WebImageContext) -> WebImageOptionsResult?

    /// A processor of a closure, which is called on the thread of whoever begins a load and must be quick; a nil answer leaves
    /// everything as it is.
    ///
    /// The context holds the manager's own transformer, key filter and serializer where the load gave none. The URL is nil when
    /// the load has none, which then fails whatever is answered.
    public init(
        _ body:
            @escaping @Sendable (_ url: URL?, _ options: WebImageOptions, _ context: WebImageContext) ->
            WebImageOptionsResult?
    ) { self.body = body }

    /// What a load goes on with; nil means what it came with.
    public func process(
        _ url: URL?,
        options: WebImageOptions,
        context: WebImageContext
    ) -> WebImageOptionsResult? { body(url, options, context) }
}

/// What a ``WebImageOptionsProcessor`` answers.
public struct WebImageOptionsResult: Sendable {
    /// The options in place of the load's.
    public var options: WebImageOptions
    /// The context in place of the load's.
    public var context: WebImageContext

    /// Options and a context.
    public init(options: WebImageOptions, context: WebImageContext) {
        self.options = options
        self.context = context
    }
}
