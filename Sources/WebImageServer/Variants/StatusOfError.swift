import WebImage

extension WebImageError {
    /// The answer to a client whose image could not be loaded.
    ///
    /// The message says nothing about addresses, hosts and files: those are for the log.
    var serverError: ServerError {
        let (status, message): (Int, String) =
            switch code {
            case .invalidURL: (400, "Invalid URL")
            case .sourceRefused: (403, "Source is not allowed")
            case .invalidDownloadStatusCode where statusCode == 404 || statusCode == 410: (404, "Source not found")
            case .fileAccessFailed: (404, "Source not found")
            case .limitExceeded where isOfFullMemory: (503, "The server is busy")
            case .limitExceeded: (413, "Source is too large")
            case .badImageData, .unsupportedFormat, .decoderCrashed, .decodeTimedOut, .pageNotFound,
                .previewNotFound:
                (422, "Source is not a usable image")
            case .timedOut: (504, "Source does not answer in time")
            case .outOfMemory, .cancelled: (503, "The server is busy")
            case .decoderUnavailable, .encodingFailed, .transformFailed: (500, "The image cannot be made")
            default: (502, "Source cannot be loaded")
            }
        return ServerError(status: status, message: message, cause: "\(self)")
    }

    /// True if the memory budget was full, which passes; false if this one image needs more than all of it.
    private var isOfFullMemory: Bool {
        guard let limit, limit.name == "memoryBudget" else { return false }
        return limit.required <= limit.allowed
    }
}

extension HTTPAnswer {
    /// Returns the answer of an error.
    ///
    /// - Parameter retryAfter: The seconds after which another attempt makes sense.
    static func error(_ error: ServerError, fields: HTTPHeaders = [:], retryAfter: Int? = nil) -> HTTPAnswer {
        var answer = HTTPAnswer.text(error.status, error.message, headers: fields)
        answer.headers.add(name: "Cache-Control", value: "no-store")
        if let retryAfter { answer.headers.add(name: "Retry-After", value: "\(max(retryAfter, 1))") }
        answer.cause = error.cause ?? error.message
        answer.origin = "error"
        return answer
    }
}
