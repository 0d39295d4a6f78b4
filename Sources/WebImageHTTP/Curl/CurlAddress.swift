import CCurl

/// Returns the addresses of a host. Called for each request, on the network thread. An empty array leaves the lookup to the system.
package typealias HostResolver = @Sendable (_ host: String, _ port: Int) -> [IPAddress]

/// The host and port of a URL as libcurl parses them. libcurl connects there, and another parser could be made to see another host.
struct CurlAddress: Equatable {
    /// The host; an IPv6 address is in brackets, as in the URL.
    let host: String
    let port: Int

    /// Nil for a URL that libcurl cannot parse.
    init?(_ address: String) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, address, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart, _ flags: UInt32) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
        guard let host = part(CURLUPART_HOST, 0),
            let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap({ Int($0) })
        else { return nil }
        (self.host, self.port) = (host, port)
    }
}
