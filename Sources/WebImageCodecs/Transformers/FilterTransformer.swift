/// A transformer that is a closure and a name: the counterpart of SDWebImage's transformer for platform filters.
public struct FilterTransformer: ImageTransformer {
    /// What it is called. Becomes part of cache keys, so it must tell all that the closure depends on: two filters of one name are
    /// taken for the same.
    public let name: String
    /// Whether metadata is copied to the result. True by default.
    public var preservesImageMetadata = true
    private let filter: @Sendable (Image) throws(WebImageError) -> Image

    /// A transformer that calls a closure.
    ///
    /// - Parameters:
    ///   - name: tells the closure and everything it depends on.
    ///   - filter: makes an image from an image; called off the main thread, from several threads at once.
    public init(name: String, filter: @escaping @Sendable (Image) throws(WebImageError) -> Image) {
        self.name = name
        self.filter = filter
    }

    /// `SDImageFilterTransformer(name)`.
    public var transformerKey: String { "SDImageFilterTransformer(\(name))" }

    /// What the closure makes of the image.
    ///
    /// - Throws: what the closure throws.
    public func transform(_ image: Image) throws(WebImageError) -> Image { try filter(image) }
}
