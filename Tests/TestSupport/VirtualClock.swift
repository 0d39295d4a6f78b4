public import WebImage

/// Time that stands still until a test moves it.
public final class VirtualClock: Sendable {
    private let state: Monitor<(wall: Double, nanoseconds: UInt64)>

    /// A clock at a wall time (seconds since 1970).
    public init(wallTime: Double = 1_700_000_000) { state = Monitor((wallTime, 1_000_000_000)) }

    /// What the library reads.
    public var source: ClockSource {
        ClockSource(
            wallTime: { self.state.withLock { $0.wall } },
            monotonicNanoseconds: { self.state.withLock { $0.nanoseconds } }
        )
    }

    /// Lets time pass on both clocks.
    public func advance(seconds: Double) {
        state.withLock { state in
            state.wall += seconds
            state.nanoseconds += UInt64(max(seconds, 0) * 1e9)
        }
    }

    /// Sets the wall clock, as a user might, forwards or backwards.
    public func setWallTime(_ wallTime: Double) { state.withLock { $0.wall = wallTime } }
}
