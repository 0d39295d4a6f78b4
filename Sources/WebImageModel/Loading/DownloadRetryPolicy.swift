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
