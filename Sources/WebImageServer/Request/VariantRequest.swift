/// A request for an image: the source, and how it is processed. Grammars make it from a path.
package struct VariantRequest: Sendable, Hashable {
    /// The URL of the source as the request names it, percent-decoded, with the base URL. It is not checked: loaders check it.
    package var source: String
    /// The processing of the source.
    package var options: VariantOptions

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - source: the URL of the source.
    ///   - options: how it is processed; as it is by default.
    package init(source: String, options: VariantOptions = VariantOptions()) {
        self.source = source
        self.options = options
    }
}
