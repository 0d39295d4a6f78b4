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

    /// Whether it is what nearly all are: the transport may follow its redirects.
    var isPlainGet: Bool { method == "GET" && body == nil }
}
