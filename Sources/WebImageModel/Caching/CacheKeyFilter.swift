public import FoundationEssentials

/// Maps a URL to its cache key, in place of its absolute string; for example without a token in the query.
public final class CacheKeyFilter: Sendable {
    private let body: @Sendable (URL) -> String?

    /// Creates a filter from a closure. If it returns nil, the caches are neither read nor written for that URL.
    public init(_ body: @escaping @Sendable (_ url: URL) -> String?) { self.body = body }

    /// Returns the key for `url`, or nil for none.
    package func cacheKey(for url: URL) -> String? { body(url) }
}
