import Glibc

/// The source of the library's time, so that tests can run in virtual time.
package struct ClockSource: Sendable {
    /// Seconds since 1970-01-01 00:00 UTC. May jump when the system's clock is set.
    package var wallTime: @Sendable () -> Double
    /// Nanoseconds since an arbitrary start. Never jumps.
    package var monotonicNanoseconds: @Sendable () -> UInt64

    /// Creates a source from two clocks.
    package init(
        wallTime: @escaping @Sendable () -> Double,
        monotonicNanoseconds: @escaping @Sendable () -> UInt64
    ) {
        self.wallTime = wallTime
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// The machine's clocks.
    package static let system = ClockSource(
        wallTime: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        },
        monotonicNanoseconds: {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    )
}
