/// Computes when a failed download is tried again. Pure: time and random numbers are arguments.
extension DownloadRetryPolicy {
    /// Returns the number of seconds until another attempt; nil if there is none.
    ///
    /// - Parameters:
    ///   - attempt: the number of the failed attempt, 1 for the first.
    ///   - response: the response to the failed attempt, if there was one.
    ///   - method: the request's method.
    ///   - wallTime: seconds since 1970.
    ///   - random: a value in 0...1, uniformly distributed.
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
        // The number of seconds before which another attempt is pointless.
        let asked: Double? =
            switch error.code {
            case .invalidDownloadStatusCode: (response ?? error.response)?.retryAfter(wallTime: wallTime)
            case .hostUnavailable: error.retryAfter
            default: nil
            }
        guard let asked else { return wait * (1 - jitter) + chance }
        // The server's Retry-After replaces the computed wait; only the jitter that spreads the clients is added.
        return asked <= BackOff.clamp(maximumRetryAfter, to: .infinity) ? asked + chance : nil
    }

    /// Returns whether the same request may succeed later.
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
    /// Returns the seconds of the `Retry-After` field; nil if the field is missing or unreadable.
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
