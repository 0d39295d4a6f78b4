/// Detects transfers that take too long. Pure; times are monotonic nanoseconds.
///
/// Two rules share one duration. A byte must arrive within `idle` of the last one, which ends transfers from silent servers. Every
/// period of `idle` since the first byte must average `minimumBytesPerSecond`, which ends those from servers that trickle bytes.
/// Waiting for a connection does not count; the transport limits that.
struct TransferTimer: Sendable {
    struct Limits: Sendable, Hashable {
        var idle: UInt64 = 15_000_000_000
        /// 0 for none.
        var total: UInt64 = 0
        /// 0 for none.
        var minimumBytesPerSecond = 100
    }

    enum Expiry: Equatable { case idle, tooSlow, total }

    let limits: Limits
    private let startedAt: UInt64
    private var lastActivity: UInt64?
    private var windowStart: UInt64?
    private var windowBytes: Int64 = 0
    private var bytes: Int64 = 0
    private var sentBytes: Int64 = 0

    init(limits: Limits, now: UInt64) {
        self.limits = limits
        startedAt = now
    }

    /// Records that the connection is open and the request is about to be sent.
    mutating func connected(at now: UInt64) { lastActivity = now }

    /// Records that `total` bytes have arrived so far.
    mutating func received(total: Int64, at now: UInt64) {
        guard total != bytes else { return }
        bytes = total
        lastActivity = now
        if windowStart == nil { windowStart = now }
    }

    /// Records that `total` bytes of the request's body have been sent so far.
    mutating func sent(total: Int64, at now: UInt64) {
        guard total != sentBytes else { return }
        sentBytes = total
        if lastActivity != nil { lastActivity = now }
    }

    /// The time of the next check; `UInt64.max` for never. Activity only moves it later, except the first activity.
    var nextDeadline: UInt64 {
        var deadline = limits.total > 0 ? startedAt.adding(clamped: limits.total) : .max
        if let lastActivity { deadline = min(deadline, lastActivity.adding(clamped: limits.idle)) }
        if let windowStart, limits.minimumBytesPerSecond > 0 {
            deadline = min(deadline, windowStart.adding(clamped: limits.idle))
        }
        return deadline
    }

    /// Returns the reason if the transfer must end now, or nil.
    mutating func check(at now: UInt64) -> Expiry? {
        if limits.total > 0, now >= startedAt.adding(clamped: limits.total) { return .total }
        if let lastActivity, now >= lastActivity.adding(clamped: limits.idle) { return .idle }
        if let start = windowStart, limits.minimumBytesPerSecond > 0, now >= start.adding(clamped: limits.idle) {
            let needed = Double(limits.minimumBytesPerSecond) * Double(now - start) / 1e9
            if Double(bytes - windowBytes) < needed { return .tooSlow }
            windowStart = now
            windowBytes = bytes
        }
        return nil
    }

    /// Returns `seconds` in nanoseconds; 0 for NaN and for values that are not positive.
    static func nanoseconds(_ seconds: Double) -> UInt64 {
        guard seconds > 0 else { return 0 }
        return seconds >= 1e9 ? 1_000_000_000_000_000_000 : UInt64(seconds * 1e9)
    }
}

extension TransferTimer.Limits {
    /// The limits of a request; an invalid idle time means the default, an invalid total time means no limit.
    init(_ request: HTTPTransferRequest) {
        self.init()
        let nanoseconds = TransferTimer.nanoseconds(request.idleTimeout)
        if nanoseconds > 0 { idle = nanoseconds }
        total = TransferTimer.nanoseconds(request.totalTimeout)
        minimumBytesPerSecond = max(request.minimumBytesPerSecond, 0)
    }
}

extension FixedWidthInteger {
    /// Returns the sum, or the maximum value on overflow.
    func adding(clamped other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
