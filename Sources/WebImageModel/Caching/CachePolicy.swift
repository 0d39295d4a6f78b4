/// Who decides how long a picture from the caches serves.
public enum CachePolicy: Sendable, Hashable {
    /// A URL's picture never changes: what is cached serves until it is removed, and the server is not asked. SDWebImage's rule,
    /// and the default.
    case immutable
    /// The server decides, by RFC 9111 as for a private cache: `Cache-Control`, `Expires`, `Age`, `Vary` and validators. That there
    /// is no picture (404, 410) is remembered for as long as it says, or for a minute, until one comes all the same or
    /// ``WebImageManager/removeFailedURL(_:)`` is called.
    case http
    /// What is cached serves for this many seconds after the server was last asked, whatever the server says; then it is asked
    /// again. What is negative counts as 0, and what is no number as ``immutable``.
    case ttl(Double)
    /// The server is asked before each delivery. What is cached serves when it says that nothing has changed, or cannot be reached.
    case revalidate
}
