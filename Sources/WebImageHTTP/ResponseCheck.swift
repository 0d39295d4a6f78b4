extension WebImageDownloaderConfig {
    /// What is wrong with a response, or nil if a download can take it. Pure.
    ///
    /// - Parameters:
    ///   - response: as a modifier made it: what is looked at.
    ///   - received: as the server sent it: what says how much will come.
    ///   - sendsRange: whether a part of the picture was asked for.
    func problem(of response: HTTPResponse, received: HTTPResponse, sendsRange: Bool) -> WebImageError? {
        let status = response.statusCode
        if status == 304 {
            return WebImageError(.cacheNotModified, "the server has nothing newer", statusCode: status)
        }
        if !sourcePolicy.isTrusted, let problem = ResponseFraming.problem(of: received.headers) {
            return problem
        }
        // Part of a picture that nobody asked for is no picture.
        if let acceptable = acceptableStatusCodes, !acceptable.contains(status) || status == 206 && !sendsRange {
            let words = "the server answered with status \(status)"
            return WebImageError(.invalidDownloadStatusCode, words, statusCode: status)
        }
        if let acceptable = acceptableContentTypes, let type = response.mimeType, !acceptable.contains(type) {
            return WebImageError(.invalidDownloadContentType, "the content type \(type) is not accepted")
        }
        let limit = maximumResponseByteCount
        let length = received.contentLength ?? (ResponseFraming.isBeyondNumbers(received.headers) ? .max : 0)
        guard length > Int64(limit) else { return nil }
        return .limitExceeded("maximumResponseByteCount", allowed: limit, required: Int(length))
    }
}
