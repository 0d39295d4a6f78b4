import FoundationEssentials

/// What follows a redirect. Pure; keeps no state.
enum RedirectRules {
    /// Whether the response asks to go elsewhere.
    static func isRedirect(_ response: HTTPResponse) -> Bool {
        [301, 302, 303, 307, 308].contains(response.statusCode) && !(response.headers["Location"] ?? "").isEmpty
    }

    /// The request that follows `response` to `request`.
    ///
    /// Secrets stay with the place they were meant for, a body goes along where the status says that the method stays, and the
    /// way leads neither to another scheme nor, unless allowed, from https to http.
    ///
    /// - Parameter count: redirects followed so far.
    /// - Throws: why there is none.
    static func next(
        after response: HTTPResponse,
        to request: DownloadRequest,
        count: Int,
        config: WebImageDownloaderConfig
    ) throws(WebImageError) -> DownloadRequest {
        guard count < min(max(config.maximumRedirectCount, 0), 1000) else {
            throw refusal("there were too many redirects", response)
        }
        // Of two places nobody knows which is meant.
        let locations = Set(response.headers.fields.filter { HTTPHeaders.equal($0.name, "Location") }.map(\.value))
        guard locations.count == 1, let url = URL(string: locations.first ?? "", relativeTo: request.url)?.absoluteURL
        else {
            throw refusal("the server redirected to what is no URL", response)
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

    /// What a handler made of the request that would follow, with secrets taken out that it only left where they were while it
    /// sent them elsewhere.
    ///
    /// - Parameter next: what would have followed.
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

    /// A user's name that is part of the URL is lost with a location that is a whole URL.
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
            throw refusal("the server redirected to a URL that is not served", response)
        }
        if DownloaderCore.isSecure(request.url), !DownloaderCore.isSecure(next.url), !config.allowsInsecureRedirects {
            throw refusal("the server redirected from https to http", response)
        }
    }

    private static func refusal(_ words: String, _ response: HTTPResponse) -> WebImageError {
        WebImageError(.badRedirect, words, response: response)
    }

    /// Whether two URLs are at the same place: scheme, host and port.
    static func haveSameOrigin(_ left: URL, _ right: URL) -> Bool {
        HostKey(left).map { $0 == HostKey(right) } ?? false
    }
}

extension DownloadRequest {
    /// Why it must not be sent, or nil. Whoever made it may be wrong, and a transport writes down what it gets.
    var problem: WebImageError? {
        if let problem = DownloaderCore.problem(of: ImageLoadRequest(url: url, additionalHeaders: headers)) {
            return problem
        }
        guard HTTPHeaders.isToken(method) else {
            return WebImageError(.invalidDownloadOperation, "the request's method is not a token")
        }
        guard method != "HEAD" || body == nil else {
            return WebImageError(.invalidDownloadOperation, "a request for the head alone has no body")
        }
        return nil
    }
}
