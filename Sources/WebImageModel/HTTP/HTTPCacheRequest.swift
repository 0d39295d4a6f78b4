/// A request as the cache sees it.
package struct HTTPCacheRequest: Sendable, Hashable {
    /// The fields as they will be sent, as far as they are known.
    package let headers: HTTPHeaders
    /// Whether cookies that are not among the fields go with it: then a response that varies with them never matches.
    let handlesCookies: Bool
    /// What it says about caching. `Pragma: no-cache` counts where there is no `Cache-Control` (RFC 9111, 5.4).
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
