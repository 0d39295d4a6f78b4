package import WebImageModel

extension WebImageContext {
    /// A context with what `change` sets.
    package static func with(_ change: (inout WebImageContext) -> Void) -> WebImageContext {
        var context = WebImageContext()
        change(&context)
        return context
    }
}
