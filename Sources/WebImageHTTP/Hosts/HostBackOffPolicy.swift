import Glibc

/// The back-off of hosts that fail repeatedly or ask clients to wait.
///
/// A host is a scheme, a name and a port. These failures count against it: its name is not found, the connection fails, a TLS
/// handshake breaks off, a timeout, a connection that is lost before the first byte of a body, and the statuses 502, 503 and 504.
/// Any other response resets the count. After eight failures in a row, downloads from that host fail at once with
/// ``WebImageError/Code/hostUnavailable`` for a delay; running downloads continue. Then one download is sent as a probe, and the
/// others wait for its outcome: a response ends the back-off, a failure starts the next, longer delay.
///
/// Only downloads whose URL is known before they start can wait. With a ``DownloadRequestModifier``, the URL is known only after
/// the modifier ran, so those downloads do not wait: during a probe, they fail at once with ``WebImageError/Code/hostUnavailable``
/// and a ``WebImageError/retryAfter`` of 1 second. A ``DownloadRetryPolicy`` tries them again.
///
/// Failures are forgotten if the host has neither responded nor failed for 10 minutes.
///
/// A part of each delay is random, so that many clients do not return at the same moment.
public struct HostBackOffPolicy: Sendable, Hashable {
    /// The number of failures in a row that starts the back-off. 8 by default; 0 means never.
    package var failureThreshold = 8
    /// The first delay, in seconds. 1 by default.
    package var baseDelay = 1.0
    /// The factor between one delay and the next. 2 by default.
    package var multiplier = 2.0
    /// The maximum delay, in seconds. 60 by default.
    package var maximumDelay = 60.0
    /// The random fraction of a delay, 0...1. 0.5 by default: the delay is between half and the whole.
    package var jitter = 0.5
    /// The longest `Retry-After` of a 429 or 503 response that is obeyed, in seconds; longer ones are shortened to it. 600 by
    /// default; 0 means never.
    ///
    /// It applies to the URL of the response, and after three such responses in a row from one host, with no other between them, to
    /// the host. A download that would start in the meantime waits if the delay is at most 2 seconds and there is no request
    /// modifier; otherwise, it fails at once with ``WebImageError/Code/hostUnavailable``. Under a policy other than
    /// ``SourcePolicy/trusted``, it applies only to the URL, and for ``SourcePolicy/maximumDuration`` at most: untrusted URLs must
    /// not block a host for all other downloads.
    package var maximumRetryAfter = 600.0
    /// The number of responses in a row with `Retry-After`, from one host, that makes it apply to the whole host.
    package var askThreshold = 3

    /// Creates the default policy: after eight failures, delays of one second, then two, four and so on up to a minute;
    /// `Retry-After` is obeyed.
    package init() {}

    /// The default policy: after eight failures, delays of one second, then two, four and so on up to a minute; `Retry-After` is
    /// obeyed.
    public static let `default` = HostBackOffPolicy()

    /// No back-off for any host.
    public static let never: HostBackOffPolicy = {
        var policy = HostBackOffPolicy()
        policy.failureThreshold = 0
        policy.maximumRetryAfter = 0
        return policy
    }()
}

extension HostBackOffPolicy {
    /// Returns the back-off delay in seconds.
    ///
    /// - Parameters:
    ///   - count: the number of delays before, without a response since.
    ///   - random: a value in 0...1, uniformly distributed.
    func delay(afterOpenings count: Int, random: Double) -> Double {
        let whole = BackOff.seconds(base: baseDelay, multiplier: multiplier, maximum: maximumDelay, count: count)
        let jitter = BackOff.clamp(jitter, to: 1)
        return whole * (1 - jitter) + whole * jitter * BackOff.clamp(random, to: 1)
    }
}

/// Exponential back-off.
enum BackOff {
    /// Returns `base` times `multiplier` to the power of `count`, at most `maximum`; invalid values count as 0.
    static func seconds(base: Double, multiplier: Double, maximum: Double, count: Int) -> Double {
        let longest = clamp(maximum, to: .infinity)
        let factor = pow(clamp(multiplier, to: .infinity), Double(count))
        return clamp(clamp(base, to: longest) * factor, to: longest)
    }

    /// Returns `value`, limited to 0...`limit`; NaN becomes 0.
    static func clamp(_ value: Double, to limit: Double) -> Double { value > 0 ? min(value, limit) : 0 }
}
