extension WebImageDownloaderConfig {
    /// Returns the error for a response, or nil if the download can accept it. Pure.
    ///
    /// - Parameters:
    ///   - response: the response after the modifier; it is checked.
    ///   - received: the response as the server sent it; it determines the body's length.
    ///   - sendsRange: true if the request asked for a part of the image.
    ///   - isCut: true if the body is cut off at the limit.
    func problem(
        of response: HTTPResponse,
        received: HTTPResponse,
        sendsRange: Bool,
        isCut: Bool = false
    ) -> WebImageError? {
        let status = response.statusCode
        if status == 304 {
            return WebImageError(.cacheNotModified, "not modified", statusCode: status)
        }
        if !sourcePolicy.isTrusted, let problem = ResponseFraming.problem(of: received.headers) {
            return problem
        }
        // A part of an image that was not requested is not an image.
        if let acceptable = acceptableStatusCodes, !acceptable.contains(status) || status == 206 && !sendsRange {
            let words = "the server answered with status \(status)"
            return WebImageError(.invalidDownloadStatusCode, words, statusCode: status)
        }
        if let acceptable = acceptableContentTypes, let type = response.mimeType, !acceptable.contains(type) {
            return WebImageError(.invalidDownloadContentType, "the content type \(type) is not accepted")
        }
        let limit = maximumResponseByteCount
        let length = received.contentLength ?? (ResponseFraming.isBeyondNumbers(received.headers) ? .max : 0)
        guard length > Int64(limit), !isCut else { return nil }
        return .limitExceeded("maximumResponseByteCount", allowed: limit, required: Int(length))
    }
}
