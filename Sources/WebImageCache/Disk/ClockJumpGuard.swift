/// Detects that the system clock was set forward by a large amount while the process ran.
///
/// A clock that is wrong for a moment would make all entries look expired. The pass that detects a jump ignores ages; the next one
/// trusts the clock again. (A computer that was suspended looks the same, and loses only one pass.)
struct ClockJumpGuard: Sendable {
    /// The minimum jump, in seconds, that is treated as suspicious.
    static let tolerance: Double = 6 * 3_600

    private var wall: Double
    private var monotonic: UInt64

    init(_ clock: ClockSource) {
        wall = clock.wallTime()
        monotonic = clock.monotonicNanoseconds()
    }

    /// Returns whether the clock was set forward since the last call.
    mutating func checkJump(_ clock: ClockSource) -> Bool {
        let last = self
        self = ClockJumpGuard(clock)
        return (wall - last.wall) - Double(monotonic &- last.monotonic) / 1e9 > Self.tolerance
    }
}
