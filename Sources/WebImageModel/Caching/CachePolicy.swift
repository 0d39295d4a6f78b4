/// The rule for how long cached images are used without asking the server.
public enum CachePolicy: Sendable, Hashable {
    /// The image at a URL never changes: a cached image is used until it is removed, without asking the server. SDWebImage's rule,
    /// and the default.
    case immutable
    /// The server decides, by RFC 9111 as for a private cache: `Cache-Control`, `Expires`, `Age`, `Vary` and validators. A missing
    /// image (404, 410) is remembered for as long as the response says, or for one minute; until an image arrives after all or
    /// ``WebImageManager/removeFailedURL(_:)`` is called.
    case http
    /// A cached image is used for this many seconds after the server was last asked, whatever the server says; then it is
    /// revalidated. Negative values count as 0, NaN as ``immutable``.
    case ttl(Double)
    /// The image is revalidated before each delivery. The cached one is used if the server says that it has not changed, or cannot
    /// be reached.
    case revalidate
}
