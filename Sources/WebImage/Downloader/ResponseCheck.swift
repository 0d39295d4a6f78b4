/// Whether a response is one that a download can take. Pure.
struct ResponseCheck {
    let config: WebImageDownloaderConfig
    /// Whether a part of the picture was asked for.
    let sendsRange: Bool

    /// What is wrong with the response, or nil.
    ///
    /// - Parameters:
    ///   - response: as a modifier made it: what is looked at.
    ///   - received: as the server sent it: what says how much will come.
    func problem(of response: HTTPResponse, received: HTTPResponse) -> WebImageError? {
        var problem = problem(response, received)
        problem?.response = response
        return problem
    }

    private func problem(_ response: HTTPResponse, _ received: HTTPResponse) -> WebImageError? {
        let status = response.statusCode
        if status == 304 {
            return WebImageError(.cacheNotModified, "the server has nothing newer", statusCode: status)
        }
        if !config.sourcePolicy.isTrusted, let problem = ResponseFraming.problem(of: received.headers) {
            return problem
        }
        // Part of a picture that nobody asked for is no picture.
        if let acceptable = config.acceptableStatusCodes, !acceptable.contains(status) || status == 206 && !sendsRange {
            let words = "the server answered with status \(status)"
            return WebImageError(.invalidDownloadStatusCode, words, statusCode: status)
        }
        if let acceptable = config.acceptableContentTypes, let type = response.mimeType, !acceptable.contains(type) {
            return WebImageError(.invalidDownloadContentType, "the content type \(type) is not accepted")
        }
        let length = ResponseFraming.isBeyondNumbers(received.headers) ? .max : received.contentLength
        let limit = config.maximumResponseByteCount
        guard let length, length > Int64(limit) else { return nil }
        return .limitExceeded("maximumResponseByteCount", allowed: limit, required: Int(length))
    }
}
