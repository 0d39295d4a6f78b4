/// A deadline on the monotonic clock.
struct Deadline: Sendable {
    private let clock: ClockSource?
    private let start: UInt64
    private let length: UInt64

    /// - Parameter seconds: the time from now; nil for no deadline.
    init(_ clock: ClockSource, seconds: Double?) {
        self.clock = seconds == nil ? nil : clock
        length = UInt64(min(max((seconds ?? 0) * 1e9, 0), 1e18))
        start = clock.monotonicNanoseconds()
    }

    var hasPassed: Bool { hasPassed(length) }

    /// True once half of the time has passed.
    var isHalfOver: Bool { hasPassed(length / 2) }

    private func hasPassed(_ length: UInt64) -> Bool {
        clock.map { $0.monotonicNanoseconds() &- start >= length } ?? false
    }
}
