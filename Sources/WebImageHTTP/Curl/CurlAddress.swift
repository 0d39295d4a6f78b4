import CCurl

/// Says where a host is: asked for each request, on the network thread. No addresses leave it to the system.
package typealias HostResolver = @Sendable (_ host: String, _ port: Int) -> [IPAddress]

/// Host and port of an address as libcurl reads it, which is where it will go: another reader might be made to see another host.
struct CurlAddress: Equatable {
    /// IPv6 in brackets, as in the URL.
    let host: String
    let port: Int

    /// Nil for what libcurl does not read.
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
