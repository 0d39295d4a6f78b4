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
        let status = response.statusCode
        if status == 304 {
            return WebImageError(
                .cacheNotModified,
                "the server has nothing newer",
                statusCode: status,
                response: response
            )
        }
        if !config.sourcePolicy.isTrusted, var problem = ResponseFraming.problem(of: received.headers) {
            problem.response = response
            return problem
        }
        if let acceptable = config.acceptableStatusCodes {
            // Part of a picture that nobody asked for is no picture.
            guard acceptable.contains(status), status != 206 || sendsRange else {
                return WebImageError(
                    .invalidDownloadStatusCode,
                    "the server answered with status \(status)",
                    statusCode: status,
                    response: response
                )
            }
        }
        if let acceptable = config.acceptableContentTypes, let type = response.mimeType, !acceptable.contains(type) {
            return WebImageError(
                .invalidDownloadContentType,
                "the content type \(type) is not accepted",
                response: response
            )
        }
        let length = ResponseFraming.isBeyondNumbers(received.headers) ? .max : received.contentLength
        if let length, length > Int64(config.maximumResponseByteCount) {
            var error = WebImageError.limitExceeded(
                "maximumResponseByteCount",
                allowed: config.maximumResponseByteCount,
                required: Int(length)
            )
            error.response = response
            return error
        }
        return nil
    }
}
