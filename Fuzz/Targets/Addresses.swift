import CCurl
import FoundationEssentials
import WebImage

@testable import WebImageHTTP

/// URLs, of callers and of servers.
extension FuzzTarget {
    static let addresses: [FuzzTarget] = [
        FuzzTarget(
            name: "data-url",
            summary: "data URLs within their bound",
            dictionary: "url",
            seeds: {
                [
                    "data:,a%20b", "data:image/png;base64,iVBORw0KGgo=",
                    "data:image/svg+xml;charset=utf-8,%3Csvg/%3E",
                    "DATA:;BASE64, YW Jj", "data:text/plain,#fragment",
                ].map { Data($0.utf8) }
            },
            check: checkDataURL
        ),
        FuzzTarget(
            name: "redirect",
            summary: "URLs, redirects, and the fields sent along",
            longestInput: 1024,
            dictionary: "url",
            seeds: {
                addressSeeds.map { Data("302 https://user:word@example.com/a?b\n\($0)".utf8) }
            },
            check: checkRedirect
        ),
    ]

    static let addressSeeds = [
        "https://example.com/picture.jpg?size=2#top", "http://EXAMPLE.com:80/%7Euser/", "//other.example/x",
        "../up/one",
        "?query", "https://user:pass@[::1]:8443/a.PNG", "file:///etc/passwd", "data:,x", "http://b%C3%BCcher.example/",
        "https:/one-slash", "http://a@b@c/", "javascript:alert(1)", "http://example.com\\@other.example/", "",
    ]

    private static func checkDataURL(_ data: Data) throws(FuzzFinding) {
        let text = data.text
        for limit in [0, 3, 100, 1 << 16] {
            do throws(WebImageError) {
                let url = try DataURL(text, limit: limit)
                try checkContent(url, text, limit)
            } catch {
                if error.code == .encodingFailed { throw FuzzFinding(error.message) }
                let codes: [WebImageError.Code] = [.invalidURL, .badImageData, .limitExceeded]
                try must(codes.contains(error.code), "an error of another kind: \(error)")
            }
        }
    }

    /// - Throws: An encoding failure with the finding.
    private static func checkContent(_ url: DataURL, _ text: String, _ limit: Int) throws(WebImageError) {
        guard url.data.count <= limit else {
            throw WebImageError(.encodingFailed, "\(url.data.count) bytes are decoded within a limit of \(limit)")
        }
        let again = try? DataURL("data:application/octet-stream;base64," + url.data.base64EncodedString(), limit: limit)
        guard again?.data == url.data else {
            throw WebImageError(.encodingFailed, "\(url.data.count) bytes do not come back within a limit of \(limit)")
        }
    }

    private static func checkRedirect(_ data: Data) throws(FuzzFinding) {
        let (first, rest) = data.halves
        let words = first.text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let status = Int(words[0]), let url = URL(string: String(words[1])) else { return }
        try checkAddress(url)
        var request = DownloadRequest(url: url, method: status % 2 == 0 ? "GET" : "POST")
        request.headers = ["Authorization": "secret", "Cookie": "secret", "Accept": "image/*"]
        guard request.problem == nil else { return }
        let location = rest.text
        let response = HTTPResponse(url: url, statusCode: status, headers: ["Location": location])
        let config = WebImageDownloaderConfig()
        guard let next = try? RedirectRules.next(after: response, to: request, count: 0, config: config) else { return }
        try checkAddress(next.url)
        try must(next.problem == nil, "a redirect leads to a request that cannot be sent")
        try must(DownloaderCore.serves(next.url), "a redirect leads to another scheme")
        let isSecure = DownloaderCore.isSecure(url)
        try must(!isSecure || DownloaderCore.isSecure(next.url), "a redirect leads from https to http")
        let isSame = host(url.absoluteString) == host(next.url.absoluteString)
        let keeps = next.headers["Authorization"] != nil || next.headers["Cookie"] != nil
        try must(isSame || !keeps, "secrets go from \(url) to \(next.url)")
        let eleventh = try? RedirectRules.next(after: response, to: request, count: 10, config: config)
        try must(eleventh == nil, "an eleventh redirect is followed")
    }

    private static func checkAddress(_ url: URL) throws(FuzzFinding) {
        let address = HostName.address(of: url)
        let problem = DownloaderCore.problem(of: ImageLoadRequest(url: url))
        if problem == nil {
            let key = HostKey(url)
            try must(key != nil, "a URL that can be sent has no host: \(url)")
            try must(key == URL(string: url.absoluteString).flatMap { HostKey($0) }, "a host depends on the parser")
            try must(address.utf8.allSatisfy { $0 > 32 && $0 != 127 }, "an address has a control character: \(address)")
            try checkHost(of: url, address)
        }
        // A written name must not end elsewhere.
        guard address != url.absoluteString, let written = URL(string: address) else { return }
        try must(written.port == url.port && written.path == url.path, "\(written) is another address than \(url)")
        // Text outside ASCII is written by other rules then.
        guard let host = url.host(percentEncoded: false), host.utf8.allSatisfy({ $0 < 0x80 }) else { return }
        try must(written.host(percentEncoded: false) == host, "an address leads to \(written) and not to \(url)")
    }

    /// The decision about a host must concern the one that libcurl connects to.
    private static func checkHost(of url: URL, _ address: String) throws(FuzzFinding) {
        guard let found = host(address), let name = url.host(percentEncoded: false) else { return }
        // With a user name the address is unchanged, and libcurl uses the same library.
        let (asked, decided) = (lookedUp(found), lookedUp(name))
        // Numbers have many spellings, which libcurl normalizes.
        guard !asked.contains(":"), !asked.allSatisfy({ $0.isNumber || $0 == "." }) else { return }
        try must(asked == decided, "libcurl would ask \(asked), and not \(decided), for \(address)")
    }

    private static func lookedUp(_ name: String) -> String { (InternationalName.ascii(name) ?? name).lowercased() }

    /// The host that libcurl parses from an address; nil when it refuses it.
    private static func host(_ address: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, address, 0) == CURLUE_OK else { return nil }
        var part: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, CURLUPART_HOST, &part, 0) == CURLUE_OK, let part else { return nil }
        defer { curl_free(part) }
        return String(cString: part).lowercased()
    }
}
