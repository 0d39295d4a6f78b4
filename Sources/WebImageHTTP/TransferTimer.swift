/// When a transfer has taken too long: a pure account of what arrived when. Times are monotonic nanoseconds.
///
/// Two rules share one length of time, so that a server that goes silent and a server that sends a byte a second both end
/// after it: some byte must arrive within `idle` of the last one, and every stretch of `idle` since the first byte
/// must bring `minimumBytesPerSecond` on average. Waiting for a connection does not count; the transport bounds that.
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

    /// A connection is there and the request is about to be sent.
    mutating func connected(at now: UInt64) { lastActivity = now }

    /// `total` bytes have arrived so far.
    mutating func received(total: Int64, at now: UInt64) {
        guard total != bytes else { return }
        bytes = total
        lastActivity = now
        if windowStart == nil { windowStart = now }
    }

    /// `total` bytes of the request's body have been sent so far.
    mutating func sent(total: Int64, at now: UInt64) {
        guard total != sentBytes else { return }
        sentBytes = total
        if lastActivity != nil { lastActivity = now }
    }

    /// When to ask again; `UInt64.max` for never. Activity only moves it later, except the first.
    var nextDeadline: UInt64 {
        var deadline = limits.total > 0 ? startedAt.adding(clamped: limits.total) : .max
        if let lastActivity { deadline = min(deadline, lastActivity.adding(clamped: limits.idle)) }
        if let windowStart, limits.minimumBytesPerSecond > 0 {
            deadline = min(deadline, windowStart.adding(clamped: limits.idle))
        }
        return deadline
    }

    /// Why the transfer must end now, or nil.
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

    /// `seconds` as nanoseconds; nothing that is not a positive number is more than 0.
    static func nanoseconds(_ seconds: Double) -> UInt64 {
        guard seconds > 0 else { return 0 }
        return seconds >= 1e9 ? 1_000_000_000_000_000_000 : UInt64(seconds * 1e9)
    }
}

extension TransferTimer.Limits {
    /// Those of a request; lengths of time that are none mean the default of an idle time, and no limit of the whole.
    init(_ request: HTTPTransferRequest) {
        self.init()
        let nanoseconds = TransferTimer.nanoseconds(request.idleTimeout)
        if nanoseconds > 0 { idle = nanoseconds }
        total = TransferTimer.nanoseconds(request.totalTimeout)
        minimumBytesPerSecond = max(request.minimumBytesPerSecond, 0)
    }
}

extension FixedWidthInteger {
    /// The sum, or the greatest number where there is none.
    func adding(clamped other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
