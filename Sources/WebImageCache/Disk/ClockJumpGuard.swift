/// Tells when the system's clock was set forward by much while the process ran.
///
/// A clock that is wrong for a moment would make everything look expired. The pass that notices a jump leaves ages alone; the
/// next one believes the clock. (A computer that slept looks the same, and loses only one pass.)
struct ClockJumpGuard: Sendable {
    /// A jump of less, in seconds, is not worth a doubt.
    static let tolerance: Double = 6 * 3_600

    private var wall: Double
    private var monotonic: UInt64

    init(_ clock: ClockSource) {
        wall = clock.wallTime()
        monotonic = clock.monotonicNanoseconds()
    }

    /// Whether the clock was set forward since this was last asked.
    mutating func checkJump(_ clock: ClockSource) -> Bool {
        let last = self
        self = ClockJumpGuard(clock)
        return (wall - last.wall) - Double(monotonic &- last.monotonic) / 1e9 > Self.tolerance
    }
}
