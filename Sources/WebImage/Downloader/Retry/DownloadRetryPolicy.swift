/// Whether and when a download that failed is tried again.
///
/// Only failures that may pass are: time limits, names that are not found, connections that cannot be made or are lost, hosts that
/// are left alone, and statuses of ``retryableStatusCodes``. The waits grow by ``multiplier``, and a part of each is random, so that many clients do
/// not come back at the same moment.
public struct DownloadRetryPolicy: Sendable, Hashable {
    /// Most attempts after the first. 2 by default.
    public var maximumRetryCount = 2
    /// Seconds before the second attempt. 0.5 by default.
    public var baseDelay = 0.5
    /// What each further wait is longer by. 2 by default.
    public var multiplier = 2.0
    /// The longest wait, in seconds. 30 by default.
    public var maximumDelay = 30.0
    /// The part of a wait that is random, 0...1: 1, the default, means any time up to the whole wait; 0 means exactly the wait.
    public var jitter = 1.0
    /// A server that asks (`Retry-After`) for a longer wait than this many seconds is not waited for, nor a host that is left
    /// alone for longer (``WebImageError/Code/hostUnavailable``). 60 by default.
    public var maximumRetryAfter = 60.0
    /// Statuses that may pass. 408, 425, 429, 500, 502, 503 and 504 by default.
    public var retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// Whether requests other than GET and HEAD are repeated, too. False by default.
    public var retriesUnsafeMethods = false

    /// Two more attempts, after half a second and a second at most.
    public init() {}

    /// No further attempt.
    public static let never: DownloadRetryPolicy = {
        var policy = DownloadRetryPolicy()
        policy.maximumRetryCount = 0
        return policy
    }()
}

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
