/// When a download that failed is tried again. Pure: time and chance come from outside.
extension DownloadRetryPolicy {
    /// Seconds until another attempt; nil when there is none.
    ///
    /// - Parameters:
    ///   - attempt: the one that failed, 1 for the first.
    ///   - response: its answer, if there was one.
    ///   - method: the request's.
    ///   - wallTime: seconds since 1970.
    ///   - random: 0...1, evenly spread.
    func wait(
        after error: WebImageError,
        attempt: Int,
        response: HTTPResponse?,
        method: String,
        wallTime: Double,
        random: Double
    ) -> Double? {
        guard attempt <= maximumRetryCount, mayPass(error), retriesUnsafeMethods || method == "GET" || method == "HEAD"
        else { return nil }
        let wait = BackOff.seconds(base: baseDelay, multiplier: multiplier, maximum: maximumDelay, count: attempt - 1)
        let jitter = BackOff.clamp(jitter, to: 1)
        let chance = wait * jitter * BackOff.clamp(random, to: 1)
        // Seconds before which another attempt has no sense.
        let asked: Double? =
            switch error.code {
            case .invalidDownloadStatusCode: (response ?? error.response)?.retryAfter(wallTime: wallTime)
            case .hostUnavailable: error.retryAfter
            default: nil
            }
        guard let asked else { return wait * (1 - jitter) + chance }
        // The server's wish takes the place of our own wait, and only what spreads the clients comes on top.
        return asked <= BackOff.clamp(maximumRetryAfter, to: .infinity) ? asked + chance : nil
    }

    /// Whether the same request may succeed later.
    private func mayPass(_ error: WebImageError) -> Bool {
        switch error.code {
        case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .transportFailed,
            .hostUnavailable:
            true
        case .secureConnectionFailed: CurlErrorMapping.isBrokenHandshake(error)
        case .invalidDownloadStatusCode: error.statusCode.map(retryableStatusCodes.contains) ?? false
        default: false
        }
    }
}

extension HTTPResponse {
    /// Seconds that the server asks to wait; nil when it does not say, or nothing that can be read.
    func retryAfter(wallTime: Double) -> Double? {
        guard let value = headers["Retry-After"] else { return nil }
        let text = value.utf8.drop { $0 <= 32 }
        let digits = text.prefix { (48...57).contains($0) }
        if !digits.isEmpty, text.dropFirst(digits.count).allSatisfy({ $0 <= 32 }) {
            return HTTPDirective.seconds(digits)
        }
        return HTTPDate.parse(value, now: wallTime).map { max($0 - wallTime, 0) }
    }
}
