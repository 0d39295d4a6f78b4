/// The request that led to a response, and its times: the information that a cache needs besides the response.
package struct HTTPExchange: Sendable {
    /// A redirect response before the final one.
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
    /// The time at which the request was sent, in seconds since 1970.
    package var requestTime: Double
    /// The time at which the head of the response arrived, in seconds since 1970.
    package var responseTime: Double
    /// The redirects before the response, in order.
    package var redirects: [Hop] = []
    /// The credentials with which the downloader sent the request, not counting a request modifier; nil if not known.
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
