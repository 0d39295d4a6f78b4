import Glibc

/// When and for how long a downloader leaves a host alone that fails, or that asks for it.
///
/// A host is a scheme, a name and a port. Failures that say something about it are counted: its name is not found, no
/// connection is made, a TLS handshake breaks off, nothing comes in time, the connection is lost before the first byte of a
/// body, or the status is 502, 503 or 504. Anything else that it answers starts the count anew. Once there are
/// ``failureThreshold`` in a row, downloads from that host fail at once with ``WebImageError/Code/hostUnavailable`` for a while;
/// those under way go on. Then one of them is sent, and the others wait for what becomes of it: with an answer all is as before, with
/// a failure the next while is longer.
///
/// Only downloads whose address is known before their turn comes can wait. With a ``DownloadRequestModifier`` it is known once the
/// modifier has been asked, so those do not: as long as one of them finds out, the others fail at once with
/// ``WebImageError/Code/hostUnavailable`` and a ``WebImageError/retryAfter`` of 1 second. A ``DownloadRetryPolicy`` tries them again.
///
/// Failures are forgotten once nothing was heard of the host for 10 minutes.
///
/// Which part of a while is random differs, so that many clients do not come back at the same moment.
public struct HostBackOffPolicy: Sendable, Hashable {
    /// Failures in a row after which the host is left alone. 8 by default; 0 means never.
    public var failureThreshold = 8
    /// Seconds for which it is left alone the first time. 1 by default.
    public var baseDelay = 1.0
    /// What each further time is longer by. 2 by default.
    public var multiplier = 2.0
    /// The longest time, in seconds. 60 by default.
    public var maximumDelay = 60.0
    /// The part of a time that is random, 0...1. 0.5 by default: any time between the half and the whole.
    public var jitter = 0.5
    /// The longest time, in seconds, for which an answer 429 or 503 with `Retry-After` is heeded. 600 by default; 0 means never.
    ///
    /// It holds for the URL that was answered so, and after three such answers in a row from one host, with no other between them,
    /// for the host. What would start meanwhile waits if it is no more than 2 seconds and there is no request modifier, and fails at
    /// once with ``WebImageError/Code/hostUnavailable`` otherwise. Under a policy other than ``SourcePolicy/trusted`` it holds for the
    /// URL only, and for ``SourcePolicy/maximumDuration`` at most: strangers' URLs must not close a host to everybody else.
    public var maximumRetryAfter = 600.0
    /// Answers in a row, from one host, that ask for a time before it counts for the whole host.
    package var askThreshold = 3

    /// After eight failures for a second, then two, four and so on up to a minute.
    public init() {}

    /// After eight failures for a second, then two, four and so on up to a minute; and as long as an answer asks for.
    public static let `default` = HostBackOffPolicy()

    /// No host is ever left alone.
    public static let never: HostBackOffPolicy = {
        var policy = HostBackOffPolicy()
        policy.failureThreshold = 0
        policy.maximumRetryAfter = 0
        return policy
    }()
}

extension HostBackOffPolicy {
    /// Seconds for which a host is left alone.
    ///
    /// - Parameters:
    ///   - count: how often it was before, without an answer since.
    ///   - random: 0...1, evenly spread.
    func delay(afterOpenings count: Int, random: Double) -> Double {
        let whole = BackOff.seconds(base: baseDelay, multiplier: multiplier, maximum: maximumDelay, count: count)
        let jitter = BackOff.clamp(jitter, to: 1)
        return whole * (1 - jitter) + whole * jitter * BackOff.clamp(random, to: 1)
    }
}

/// Waits that grow.
enum BackOff {
    /// `base` times `multiplier` as often as there were others, at most `maximum`; senseless figures count as 0.
    static func seconds(base: Double, multiplier: Double, maximum: Double, count: Int) -> Double {
        let longest = clamp(maximum, to: .infinity)
        let factor = pow(clamp(multiplier, to: .infinity), Double(count))
        return clamp(clamp(base, to: longest) * factor, to: longest)
    }

    /// Between 0 and `limit`; what is no number is 0.
    static func clamp(_ value: Double, to limit: Double) -> Double { value > 0 ? min(value, limit) : 0 }
}
