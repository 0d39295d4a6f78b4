import FoundationEssentials

/// The rules for following redirects. Pure; keeps no state.
enum RedirectRules {
    /// Returns whether the response is a redirect with a location.
    static func isRedirect(_ response: HTTPResponse) -> Bool {
        [301, 302, 303, 307, 308].contains(response.statusCode) && !(response.headers["Location"] ?? "").isEmpty
    }

    /// Returns the request that follows `response` to `request`.
    ///
    /// Credentials are dropped on another origin, a body is kept only if the status preserves the method, and the redirect may
    /// change neither to a scheme other than http and https nor, unless allowed, from https to http.
    ///
    /// - Parameter count: the number of redirects followed so far.
    /// - Throws: ``WebImageError/Code/badRedirect`` if the redirect must not be followed.
    static func next(
        after response: HTTPResponse,
        to request: DownloadRequest,
        count: Int,
        config: WebImageDownloaderConfig
    ) throws(WebImageError) -> DownloadRequest {
        guard count < min(max(config.maximumRedirectCount, 0), 1000) else {
            throw refusal("too many redirects", response)
        }
        // With two different locations, the target is ambiguous.
        let locations = Set(response.headers.fields.filter { HTTPHeaders.equal($0.name, "Location") }.map(\.value))
        guard locations.count == 1, let url = URL(string: locations.first ?? "", relativeTo: request.url)?.absoluteURL
        else {
            throw refusal("the server redirected to an invalid URL", response)
        }
        var next = request
        next.url = url
        if changesMethod(response.statusCode, request.method) {
            next.method = "GET"
            dropBody(of: &next)
        }
        if haveSameOrigin(url, request.url) {
            keepUser(of: request, in: &next)
        } else {
            next.credential = nil
            for field in next.headers.credentials { next.headers[field.name] = nil }
        }
        try check(next, after: request, response, config: config)
        return next
    }

    /// Returns a handler's request after checks. If the handler changed the origin, credentials that it left unchanged are removed.
    ///
    /// - Parameter next: the proposed request.
    static func checked(
        _ chosen: DownloadRequest,
        next: DownloadRequest,
        after request: DownloadRequest,
        _ response: HTTPResponse,
        config: WebImageDownloaderConfig
    ) throws(WebImageError) -> DownloadRequest {
        var chosen = chosen
        if !haveSameOrigin(chosen.url, next.url), !haveSameOrigin(chosen.url, request.url) {
            for field in chosen.headers.credentials where chosen.headers[field.name] == next.headers[field.name] {
                chosen.headers[field.name] = nil
            }
            if chosen.credential == next.credential { chosen.credential = nil }
        }
        if let problem = chosen.problem { throw problem }
        try check(chosen, after: request, response, config: config)
        return chosen
    }

    // MARK: Rules

    private static let bodyFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length",
        "Transfer-Encoding",
    ]

    private static func changesMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: method != "GET" && method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    private static func dropBody(of request: inout DownloadRequest) {
        request.body = nil
        for name in bodyFields { request.headers[name] = nil }
    }

    /// Keeps the user name and password of the URL, which an absolute location does not contain.
    private static func keepUser(of request: DownloadRequest, in next: inout DownloadRequest) {
        guard next.credential == nil, next.url.user() == nil, let user = request.url.user(percentEncoded: false)
        else { return }
        let password = request.url.password(percentEncoded: false) ?? ""
        next.credential = WebImageCredential(user: user, password: password)
    }

    private static func check(
        _ next: DownloadRequest,
        after request: DownloadRequest,
        _ response: HTTPResponse,
        config: WebImageDownloaderConfig
    ) throws(WebImageError) {
        if DownloaderCore.problem(of: ImageLoadRequest(url: next.url)) != nil {
            throw refusal("the server redirected to an unsupported URL", response)
        }
        if DownloaderCore.isSecure(request.url), !DownloaderCore.isSecure(next.url), !config.allowsInsecureRedirects {
            throw refusal("the server redirected from https to http", response)
        }
    }

    private static func refusal(_ words: String, _ response: HTTPResponse) -> WebImageError {
        WebImageError(.badRedirect, words, response: response)
    }

    /// Returns whether two URLs have the same origin: scheme, host and port.
    static func haveSameOrigin(_ left: URL, _ right: URL) -> Bool {
        HostKey(left).map { $0 == HostKey(right) } ?? false
    }
}

extension DownloadRequest {
    /// The error if the request must not be sent, or nil. The request may come from user code, and a transport sends it unchecked.
    var problem: WebImageError? {
        if let problem = DownloaderCore.problem(of: ImageLoadRequest(url: url, additionalHeaders: headers)) {
            return problem
        }
        guard HTTPHeaders.isToken(method) else {
            return WebImageError(.invalidDownloadOperation, "the request's method is not a token")
        }
        guard method != "HEAD" || body == nil else {
            return WebImageError(.invalidDownloadOperation, "a HEAD request must not have a body")
        }
        return nil
    }
}
