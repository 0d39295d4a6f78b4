/// A transformer made of a closure and a name: the counterpart of SDWebImage's transformer for platform filters.
public struct FilterTransformer: ImageTransformer {
    /// The name of the filter. It becomes part of cache keys, so it must include all parameters of the closure: two filters with the same name are
    /// treated as equal.
    package let name: String
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true
    private let filter: @Sendable (Image) throws(WebImageError) -> Image

    /// Creates a transformer that calls a closure.
    ///
    /// - Parameters:
    ///   - name: identifies the closure and all its parameters.
    ///   - filter: returns the filtered image; called off the main thread, and concurrently from several threads.
    public init(name: String, filter: @escaping @Sendable (Image) throws(WebImageError) -> Image) {
        self.name = name
        self.filter = filter
    }

    /// `SDImageFilterTransformer(name)`.
    public var transformerKey: String { "SDImageFilterTransformer(\(name))" }

    /// Returns the closure's result.
    ///
    /// - Throws: the errors of the closure.
    public func transform(_ image: Image) throws(WebImageError) -> Image { try filter(image) }
}
