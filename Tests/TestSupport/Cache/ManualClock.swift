import Glibc
public import WebImage

/// A clock that stands still until a test moves it.
public final class ManualClock: @unchecked Sendable {
    // Sendable because the readings are only touched with `mutex` held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var wall: Double
    private var monotonic: UInt64 = 1_000_000_000

    /// A clock that shows `wallTime`, in seconds since 1970.
    public init(wallTime: Double = 1_700_000_000) {
        wall = wallTime
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Lets time pass.
    public func advance(_ seconds: Double) {
        locked {
            wall += seconds
            monotonic += UInt64(seconds * 1e9)
        }
    }

    /// Sets the wall clock, as a user or a time server does.
    public func jump(_ seconds: Double) { locked { wall += seconds } }

    /// What it shows.
    public var wallTime: Double { locked { wall } }

    /// The clock as the library takes it.
    public var source: ClockSource {
        ClockSource(wallTime: { self.wallTime }, monotonicNanoseconds: { self.locked { self.monotonic } })
    }
}
