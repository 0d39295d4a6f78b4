package import WebImageModel

/// A clock that stands still until a test moves it.
public final class ManualClock: Sendable {
    private let state: Monitor<(wall: Double, nanoseconds: UInt64)>

    /// A clock that shows `wallTime`, in seconds since 1970.
    public init(wallTime: Double = 1_700_000_000) { state = Monitor((wallTime, 1_000_000_000)) }

    /// Lets time pass.
    public func advance(_ seconds: Double) {
        state.withLock { state in
            state.wall += seconds
            state.nanoseconds += UInt64(max(seconds, 0) * 1e9)
        }
    }

    /// Sets the wall clock, as a user or a time server does: forwards or backwards by this many seconds.
    public func jump(_ seconds: Double) { state.withLock { $0.wall += seconds } }

    /// The current values.
    public var wallTime: Double { state.withLock { $0.wall } }

    /// The clock as the library takes it.
    package var source: ClockSource {
        ClockSource(wallTime: { self.wallTime }, monotonicNanoseconds: { self.state.withLock { $0.nanoseconds } })
    }
}
