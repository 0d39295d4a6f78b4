import FoundationEssentials
import HTTPTestSupport
import Testing

@testable import WebImageHTTP
@testable import WebImageModel

@Suite struct RedirectRulesTests {
    private static let base = "https://host.test/a/b.jpg?x=1"

    private func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    private func response(_ status: Int = 302, to location: String?) -> HTTPResponse {
        var response = HTTPResponse(url: url(Self.base), statusCode: status)
        response.headers["Location"] = location
        return response
    }

    private func next(
        _ location: String,
        status: Int = 302,
        from request: DownloadRequest? = nil,
        count: Int = 0,
        config: WebImageDownloaderConfig = WebImageDownloaderConfig()
    ) -> Result<DownloadRequest, WebImageError> {
        Result { () throws(WebImageError) in
            try RedirectRules.next(
                after: response(status, to: location),
                to: request ?? DownloadRequest(url: url(Self.base)),
                count: count,
                config: config
            )
        }
    }

    @Test(arguments: [
        (301, true), (302, true), (303, true), (307, true), (308, true), (200, false), (300, false), (304, false),
        (305, false), (306, false), (309, false), (404, false),
    ]) func `Five statuses are redirects, if they have a location`(status: Int, isRedirect: Bool) {
        #expect(RedirectRules.isRedirect(response(status, to: "/c")) == isRedirect)
        #expect(!RedirectRules.isRedirect(response(status, to: nil)))
        #expect(!RedirectRules.isRedirect(response(status, to: "")))
    }

    @Test(arguments: [
        ("https://other.test/c", "https://other.test/c"), ("https://host.test:8443/c", "https://host.test:8443/c"),
        ("/c", "https://host.test/c"), ("c", "https://host.test/a/c"), ("../c", "https://host.test/c"),
        ("?y=2", "https://host.test/a/b.jpg?y=2"), ("//other.test/c", "https://other.test/c"),
        ("/c d", "https://host.test/c%20d"), ("/c%20d", "https://host.test/c%20d"),
        ("HTTPS://Host.test/c", "HTTPS://Host.test/c"),
    ]) func `A location is resolved against the request's URL`(location: String, target: String) throws {
        #expect(try next(location).get().url == url(target))
    }

    @Test func `Two different locations are not a redirect, two equal ones are`() throws {
        let request = DownloadRequest(url: url(Self.base))
        var response = response(to: "/c")
        func next() throws(WebImageError) -> DownloadRequest {
            try RedirectRules.next(after: response, to: request, count: 0, config: WebImageDownloaderConfig())
        }
        response.headers.add(name: "location", value: "/c")
        #expect(try next().url == url("https://host.test/c"))
        response.headers.add(name: "location", value: "/d")
        #expect(throws: WebImageError(.badRedirect, "")) { try next() }
    }

    @Test(arguments: [
        "http://host.test/c", "HTTP://host.test/c", "ftp://host.test/c", "file:///etc/passwd", "data:,x",
        "javascript:1",
        "https://", "https:///c", "mailto:a@b.test",
    ]) func `Redirects to other schemes, to no host, or from https to http are refused`(location: String) {
        guard case .failure(let error) = next(location) else {
            Issue.record("it was followed")
            return
        }
        #expect(error.code == .badRedirect && error.response?.headers["Location"] == location)
    }

    @Test func `From https to http is followed if the configuration allows it, and the other way always`() throws {
        var config = WebImageDownloaderConfig()
        config.allowsInsecureRedirects = true
        #expect(try next("http://host.test/c", config: config).get().url == url("http://host.test/c"))
        let plain = DownloadRequest(url: url("http://host.test/"))
        #expect(try next("https://host.test/c", from: plain).get().url == url("https://host.test/c"))
    }

    @Test(arguments: [
        (0, 0, false), (0, 1, true), (9, 10, true), (10, 10, false), (0, -1, false), (1000, 1 << 40, false),
    ])
    func `The limit of redirects holds`(count: Int, limit: Int, isFollowed: Bool) {
        var config = WebImageDownloaderConfig()
        config.maximumRedirectCount = limit
        let result = next("/c", count: count, config: config)
        #expect(((try? result.get()) != nil) == isFollowed)
        if case .failure(let error) = result { #expect(error.code == .badRedirect) }
    }

    @Test(arguments: [
        (301, "GET", "GET"), (301, "POST", "GET"), (301, "PUT", "PUT"), (301, "HEAD", "HEAD"), (302, "POST", "GET"),
        (302, "PUT", "PUT"), (302, "HEAD", "HEAD"), (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"),
        (303, "PUT", "GET"), (303, "DELETE", "GET"), (307, "POST", "POST"), (307, "PUT", "PUT"), (308, "POST", "POST"),
        (308, "HEAD", "HEAD"),
    ]) func `The status decides about method and body`(status: Int, method: String, then: String) throws {
        let body = method == "HEAD" ? nil : Data([1])
        let headers: HTTPHeaders = ["Content-Type": "a/b", "content-length": "1", "X": "1"]
        let request = DownloadRequest(url: url(Self.base), method: method, headers: headers, body: body)
        let next = try next("/c", status: status, from: request).get()
        #expect(next.method == then)
        let hasChanged = method != then
        #expect(next.body == (hasChanged ? nil : body))
        #expect(next.headers["Content-Type"] == (hasChanged ? nil : "a/b"))
        #expect(next.headers["Content-Length"] == (hasChanged ? nil : "1"))
        #expect(next.headers["X"] == "1")
    }

    @Test(arguments: [
        ("/c", true), ("https://host.test/c", true), ("https://host.test:443/c", true), ("https://HOST.test/c", true),
        ("https://host.test:8443/c", false), ("https://other.test/c", false), ("https://sub.host.test/c", false),
        ("https://host.test.evil.test/c", false), ("//host.test@evil.test/c", false),
    ]) func `Secrets are sent only to the same scheme, host and port`(location: String, areKept: Bool) throws {
        let request = DownloadRequest(
            url: url(Self.base),
            headers: ["authorization": "Bearer 1", "Cookie": "a=1", "X": "1"],
            credential: WebImageCredential(user: "u", password: "p"),
            handlesCookies: true,
            attempt: 2
        )
        let next = try next(location, from: request).get()
        #expect((next.headers["Authorization"] != nil) == areKept && (next.headers["Cookie"] != nil) == areKept)
        #expect((next.credential != nil) == areKept)
        #expect(next.headers["X"] == "1" && next.handlesCookies && next.verifiesCertificates && next.attempt == 2)
    }

    @Test(arguments: [
        "X-Api-Key", "api_key", "X-Auth-Token", "X-AuthToken", "Proxy-Authorization", "X-CSRF-Token", "X-Session-ID",
        "Cookie2",
        "X-Amz-Security-Token", "X-Client-Secret", "Ocp-Apim-Subscription-Key", "X-Signature", "x-goog-api-key",
        "X-Password",
    ]) func `Secrets in services' own fields are, too`(name: String) throws {
        let request = DownloadRequest(url: url(Self.base), headers: HTTPHeaders(pairs: [(name, "1"), ("X", "2")]))
        #expect(try next("/c", from: request).get().headers[name] == "1")
        let other = try next("https://other.test/c", from: request).get()
        #expect(other.headers.fields == [HTTPHeaders.Field(name: "X", value: "2")])
    }

    @Test(arguments: [
        "Accept", "Accept-Language", "User-Agent", "Referer", "If-None-Match", "Cache-Control", "X-Author", "Range",
        "X", "DNT",
        "Sec-Fetch-Mode", "X-Requested-With", "Origin", "-", "X-Forwarded-For",
    ]) func `Other fields are not secrets`(name: String) { #expect(!HTTPHeaders.isCredential(name)) }

    @Test func `Another scheme is another origin`() throws {
        let request = DownloadRequest(url: url("http://host.test/"), headers: ["Authorization": "Bearer 1"])
        #expect(try next("https://host.test/", from: request).get().headers["Authorization"] == nil)
    }

    @Test func `A user name in the URL is sent only to the same origin, too`() throws {
        let request = DownloadRequest(url: url("https://u%20v:p%40@host.test/a"))
        let same = try next("https://host.test/c", from: request).get()
        #expect(same.credential == WebImageCredential(user: "u v", password: "p@"))
        let other = try next("https://other.test/c", from: request).get()
        #expect(other.credential == nil && other.url.user() == nil)
    }

    // MARK: Handlers

    private func checked(_ change: (inout DownloadRequest) -> Void) throws -> Result<DownloadRequest, WebImageError> {
        let request = DownloadRequest(
            url: url(Self.base),
            headers: ["Authorization": "Bearer 1"],
            credential: WebImageCredential(user: "u", password: "p")
        )
        let next = try next("/c", from: request).get()
        var chosen = next
        change(&chosen)
        let config = WebImageDownloaderConfig()
        return Result { () throws(WebImageError) in
            try RedirectRules.checked(chosen, next: next, after: request, response(to: "/c"), config: config)
        }
    }

    @Test func `A handler that only follows the redirect does not send secrets along`() throws {
        let elsewhere = try checked { $0.url = url("https://other.test/") }.get()
        #expect(elsewhere.headers["Authorization"] == nil && elsewhere.credential == nil)
        let same = try checked { $0.url = url("https://host.test/d") }.get()
        #expect(same.headers["Authorization"] == "Bearer 1" && same.credential != nil)
        let meant = try checked {
            $0.url = url("https://other.test/")
            $0.headers["Authorization"] = "Bearer 2"
        }.get()
        #expect(meant.headers["Authorization"] == "Bearer 2")
    }

    @Test func `A handler's request is checked like any request`() throws {
        func code(_ change: (inout DownloadRequest) -> Void) throws -> WebImageError.Code? {
            if case .failure(let error) = try checked(change) { return error.code }
            return nil
        }
        #expect(try code { $0.url = url("ftp://host.test/") } == .invalidURL)
        #expect(try code { $0.url = url("http://host.test/") } == .badRedirect)
        #expect(try code { $0.method = "A B" } == .invalidDownloadOperation)
        #expect(try code { $0.headers["X"] = "a\nb" } == .invalidDownloadOperation)
        #expect(try code { $0.method = "POST" } == nil)
    }

    // MARK: The chain

    @Test func `Redirects use up time and heads of the download`() throws {
        var chain = RedirectChain()
        var request = HTTPTransferRequest(url: url(Self.base))
        request.totalTimeout = 10
        try chain.bound(&request)
        #expect(request.totalTimeout == 10 && chain.completed(DownloadMetrics()) == DownloadMetrics())
        chain.note(HTTPResponse(url: url(Self.base), statusCode: 302, headers: ["Location": "/c", "X": "12"]))
        var metrics = DownloadMetrics()
        metrics.total = 4
        metrics.firstByte = 3
        metrics.receivedByteCount = 100
        chain.note(metrics)
        try chain.bound(&request)
        #expect(request.totalTimeout == 6 && request.maximumHeaderCount == 248)
        #expect(request.maximumHeaderByteCount == (64 << 10) - 14 - 7)
        let whole = chain.completed(metrics)
        #expect(whole.total == 8 && whole.firstByte == 7 && whole.connect == 0 && whole.redirectCount == 1)
        #expect(whole.receivedByteCount == 200)
        metrics.receivedByteCount = .max
        chain.note(metrics)
        chain.note(metrics)
        #expect(chain.completed(metrics).receivedByteCount == .max)
        request.totalTimeout = 10
        #expect(throws: WebImageError(.timedOut, "")) { try chain.bound(&request) }
        request.totalTimeout = 0
        try chain.bound(&request)
    }
}
