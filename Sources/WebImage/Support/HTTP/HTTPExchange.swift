/// How and when a response was asked for: what a cache has to know beside the response.
struct HTTPExchange: Sendable {
    /// A response on the way to the final one.
    struct Hop: Sendable, Hashable {
        /// The status, for example 301.
        var statusCode: Int
        /// The fields.
        var headers: HTTPHeaders
    }

    /// The fields of the request, as they were sent.
    var requestHeaders: HTTPHeaders
    /// When the request was sent, in seconds since 1970.
    var requestTime: Double
    /// When the head of the response came, in seconds since 1970.
    var responseTime: Double
    /// The redirects before the response, in their order.
    var redirects: [Hop] = []
    /// With whose rights the downloader sent it, a request modifier left out; nil where it is not known.
    var rights: LoadRights?
}
