import Glibc

/// Whether a download that failed is tried again, and when. A pure value, one for each download; time and chance come from
/// outside.
struct RetryDecider: Sendable {
    enum Decision: Equatable {
        case giveUp
        case wait(seconds: Double)
    }

    /// Further attempts so far.
    private(set) var retryCount = 0

    /// - Parameters:
    ///   - response: the answer of the attempt that failed, if there was one.
    ///   - method: the request's.
    ///   - wallTime: seconds since 1970.
    ///   - random: 0...1, evenly spread.
    mutating func decide(
        _ error: WebImageError,
        policy: DownloadRetryPolicy,
        response: HTTPResponse?,
        method: String,
        wallTime: Double,
        random: Double
    ) -> Decision {
        guard retryCount < policy.maximumRetryCount, Self.mayPass(error, policy: policy),
            policy.retriesUnsafeMethods || method == "GET" || method == "HEAD"
        else { return .giveUp }
        let wait = Self.wait(afterRetries: retryCount, policy: policy)
        let jitter = Self.clamp(policy.jitter, to: 1)
        let chance = wait * jitter * Self.clamp(random, to: 1)
        var seconds = wait * (1 - jitter) + chance
        if error.code == .invalidDownloadStatusCode,
            let asked = Self.retryAfter(response ?? error.response, wallTime: wallTime)
        {
            guard asked <= Self.clamp(policy.maximumRetryAfter, to: .infinity) else { return .giveUp }
            // The server's wish takes the place of our own wait, and only what spreads the clients comes on top.
            seconds = asked + chance
        }
        retryCount += 1
        return .wait(seconds: seconds)
    }

    /// Whether the same request may succeed later.
    static func mayPass(_ error: WebImageError, policy: DownloadRetryPolicy) -> Bool {
        switch error.code {
        case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .transportFailed: true
        case .secureConnectionFailed: CurlErrorMapping.isBrokenHandshake(error)
        case .invalidDownloadStatusCode: error.statusCode.map(policy.retryableStatusCodes.contains) ?? false
        default: false
        }
    }

    /// The whole wait before the attempt that follows so many others, chance aside.
    private static func wait(afterRetries count: Int, policy: DownloadRetryPolicy) -> Double {
        let longest = clamp(policy.maximumDelay, to: .infinity)
        let factor = pow(clamp(policy.multiplier, to: .infinity), Double(count))
        return clamp(clamp(policy.baseDelay, to: longest) * factor, to: longest)
    }

    /// Between 0 and `limit`; what is no number is 0.
    private static func clamp(_ value: Double, to limit: Double) -> Double { value > 0 ? min(value, limit) : 0 }

    /// Seconds that the server asks to wait; nil when it does not say, or nothing that can be read.
    static func retryAfter(_ response: HTTPResponse?, wallTime: Double) -> Double? {
        guard let value = response?.headers["Retry-After"] else { return nil }
        let text = value.utf8.drop { $0 <= 32 }
        let digits = text.prefix { (48...57).contains($0) }
        if !digits.isEmpty, text.dropFirst(digits.count).allSatisfy({ $0 <= 32 }) {
            return Double(String(decoding: digits, as: UTF8.self))
        }
        return HTTPDate.parse(value, now: wallTime).map { max($0 - wallTime, 0) }
    }
}
