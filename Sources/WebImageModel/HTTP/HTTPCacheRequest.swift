/// A request from the cache's point of view.
package struct HTTPCacheRequest: Sendable, Hashable {
    /// The fields that will be sent, as far as they are known.
    package let headers: HTTPHeaders
    /// Indicates whether cookies that are not among the fields are sent: then a response that varies with them never matches.
    let handlesCookies: Bool
    /// The cache directives. `Pragma: no-cache` counts if there is no `Cache-Control` (RFC 9111, 5.4).
    package let control: HTTPCacheControl

    package init(headers: HTTPHeaders = [:], handlesCookies: Bool = false) {
        self.headers = headers
        self.handlesCookies = handlesCookies
        var control = HTTPCacheControl()
        if headers.fields.contains(where: { HTTPHeaders.equal($0.name, "Cache-Control") }) {
            control = HTTPCacheControl(headers)
        } else if headers.listedNames(of: "Pragma").contains("no-cache") {
            control.flags = .noCache
        }
        self.control = control
    }
}
