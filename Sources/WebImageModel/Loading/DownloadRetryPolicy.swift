/// Decides whether and when a failed download is retried.
///
/// Only failures that may be temporary are: timeouts, names that are not found, connections that cannot be made or are lost, hosts
/// in back-off, and statuses of ``retryableStatusCodes``. Each delay is random, up to a bound that
/// doubles from one attempt to the next, so that many clients do not retry at the same moment.
public struct DownloadRetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts after the first. 2 by default.
    public var maximumRetryCount = 2
    /// The delay before the second attempt, in seconds. 0.5 by default.
    public var baseDelay = 0.5
    /// The factor by which each further delay grows. 2 by default.
    package var multiplier = 2.0
    /// The longest delay, in seconds. 30 by default.
    public var maximumDelay = 30.0
    /// The random part of a delay, 0...1: 1, the default, means any time up to the whole delay; 0 means exactly the delay.
    package var jitter = 1.0
    /// The longest `Retry-After` in seconds that is waited for, and the longest back-off of a host
    /// (``WebImageError/Code/hostUnavailable``). After a longer one the download is not retried. 60 by default.
    package var maximumRetryAfter = 60.0
    /// The statuses that are retried. 408, 425, 429, 500, 502, 503 and 504 by default.
    public var retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// Indicates whether requests other than GET and HEAD are retried, too. False by default.
    public var retriesUnsafeMethods = false

    /// Creates the default policy: two more attempts, after at most half a second and a second.
    public init() {}

    /// No retries.
    public static let never: DownloadRetryPolicy = {
        var policy = DownloadRetryPolicy()
        policy.maximumRetryCount = 0
        return policy
    }()
}
