import FoundationEssentials

/// What an HTTP cache keeps of a response beside its body: enough to tell later whether the body still serves, and how to ask
/// whether it does.
public struct HTTPCacheRecord: Sendable, Hashable {
    /// The status, for example 200.
    public internal(set) var statusCode: Int
    /// The fields of the response that are kept: end to end, and none that belong to the connection or set cookies.
    public internal(set) var headers: HTTPHeaders
    /// When the request was sent that was answered with it, or last with a 304 for it; in seconds since 1970.
    public internal(set) var requestTime: Double
    /// When the head of that answer came, in seconds since 1970.
    public internal(set) var responseTime: Double
    /// The fields of the request that `Vary` names, as they were sent; one that was not sent is left out.
    public internal(set) var selectingHeaders: HTTPHeaders
    /// The most seconds that it may serve after ``responseTime`` because of the redirects that led to it; nil without a bound.
    var redirectLifetime: Double?
}
