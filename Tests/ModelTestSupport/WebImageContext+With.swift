package import WebImageModel

extension WebImageContext {
    /// A context with the changes of `change`.
    package static func with(_ change: (inout WebImageContext) -> Void) -> WebImageContext {
        var context = WebImageContext()
        change(&context)
        return context
    }
}
