package import WebImageModel

/// A clock that stands still until a test moves it, with the delays that end by it.
///
/// Thread-safe. Delays that become due run on the thread that moves the clock.
public final class ManualClock: Sendable {
    private struct State {
        var wall: Double
        var nanoseconds: UInt64 = 1_000_000_000
        var pending: [Int: (due: UInt64, body: @Sendable () -> Void)] = [:]
        var requested: [Double] = []
        var lastID = 0
        /// Tasks that wait for a delay, by number; they receive false if they are cancelled.
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let state: Lock<State>

    /// Creates a clock that shows `wallTime`, in seconds since 1970.
    public init(wallTime: Double = 1_700_000_000) { state = Lock(State(wall: wallTime)) }

    /// The current time, in seconds since 1970.
    public var wallTime: Double { state.withLock { $0.wall } }

    /// Lets time pass, and ends the delays that are due, in their order.
    ///
    /// - Parameter seconds: The number of seconds, not negative.
    public func advance(_ seconds: Double) {
        advance(nanoseconds: seconds > 0 ? UInt64(min(seconds, 1e9) * 1e9) : 0, seconds)
    }

    /// Waits until something waits for this clock, then lets time pass until the first delay ends. Returns at once if the task is cancelled.
    ///
    /// A load that fails asks for its retry on another thread: this call needs no knowledge of when.
    public func advanceToNextDelay() async {
        guard await waitForDelay() else { return }
        let left = state.withLock { state in
            (state.pending.values.map(\.due).min() ?? 0).saturatingDifference(state.nanoseconds)
        }
        advance(nanoseconds: left, Double(left) / 1e9)
    }

    /// Sets the wall clock, as a user or a time server does: forwards or backwards by this many seconds. No delay ends.
    public func jump(_ seconds: Double) { state.withLock { $0.wall += seconds } }

    /// The number of pending delays.
    package var count: Int { state.withLock { $0.pending.count } }
    /// All requested delays so far, in seconds.
    package var asked: [Double] { state.withLock { $0.requested } }

    /// Ends all delays, however long that takes. Without any, no time passes.
    package func runAll() {
        let left = state.withLock { state in
            state.pending.values.map(\.due).max().map { $0.saturatingDifference(state.nanoseconds) }
        }
        if let left { advance(nanoseconds: left, Double(left) / 1e9) }
    }

    /// The clock as the library takes it.
    package var source: ClockSource {
        ClockSource(wallTime: { self.wallTime }, monotonicNanoseconds: { self.state.withLock { $0.nanoseconds } })
    }

    /// The delays as the library takes them.
    package var delays: DelaySource {
        DelaySource { nanoseconds, body in
            let (id, waiters) = self.state.withLock { state in
                let id = state.makeID()
                state.pending[id] = (state.nanoseconds.saturatingSum(nanoseconds), body)
                state.requested.append(Double(nanoseconds) / 1e9)
                defer { state.waiters = [:] }
                return (id, state.waiters.values)
            }
            for waiter in waiters { waiter.resume(returning: true) }
            return { withExtendedLifetime(self.state.withLock { $0.pending.removeValue(forKey: id) }) {} }
        }
    }

    private func advance(nanoseconds: UInt64, _ seconds: Double) {
        let due = state.withLock { state in
            state.wall += seconds
            state.nanoseconds = state.nanoseconds.saturatingSum(nanoseconds)
            let due = state.pending.filter { $0.value.due <= state.nanoseconds }
            for id in due.keys { state.pending[id] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
        }
        for item in due { item.value.body() }
    }

    /// Returns when there is a delay; false if the task is cancelled before.
    private func waitForDelay() async -> Bool {
        let id = state.withLock { $0.makeID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if !state.pending.isEmpty { return true }
                    if Task.isCancelled { return false }
                    state.waiters[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
        }
    }
}

extension UInt64 {
    fileprivate func saturatingSum(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    fileprivate func saturatingDifference(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
