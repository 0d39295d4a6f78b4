/// How and when a response was asked for: what a cache has to know beside the response.
package struct HTTPExchange: Sendable {
    /// A response on the way to the final one.
    package struct Hop: Sendable, Hashable {
        /// The status, for example 301.
        package var statusCode: Int
        /// The fields.
        package var headers: HTTPHeaders

        package init(statusCode: Int, headers: HTTPHeaders) {
            (self.statusCode, self.headers) = (statusCode, headers)
        }
    }

    /// The fields of the request, as they were sent.
    package var requestHeaders: HTTPHeaders
    /// When the request was sent, in seconds since 1970.
    package var requestTime: Double
    /// When the head of the response came, in seconds since 1970.
    package var responseTime: Double
    /// The redirects before the response, in their order.
    package var redirects: [Hop] = []
    /// With whose rights the downloader sent it, a request modifier left out; nil where it is not known.
    package var rights: LoadRights?

    package init(
        requestHeaders: HTTPHeaders,
        requestTime: Double,
        responseTime: Double,
        redirects: [Hop] = [],
        rights: LoadRights? = nil
    ) {
        self.requestHeaders = requestHeaders
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.redirects = redirects
        self.rights = rights
    }
}
