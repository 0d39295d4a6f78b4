public import FoundationEssentials

/// Makes the cache key of a URL in place of its absolute string, for example without a token in the query.
public final class CacheKeyFilter: Sendable {
    private let body: @Sendable (URL) -> String?

    /// A filter of a closure; a nil answer means that the picture is neither looked for in the caches nor stored.
    public init(_ body: @escaping @Sendable (_ url: URL) -> String?) { self.body = body }

    /// The key for `url`, or nil for none.
    public func cacheKey(for url: URL) -> String? { body(url) }
}
