package import TestSupport
package import WebImageModel

/// Delays that end when a test says so; time passes with them.
package final class ManualDelays: Sendable {
    private struct State {
        var pending: [Int: (due: UInt64, body: @Sendable () -> Void)] = [:]
        var asked: [Double] = []
        var nextID = 0
    }

    package let clock = ManualClock()
    private let state = Lock(State())

    package init() {}

    /// The waiting ones.
    package var count: Int { state.withLock { $0.pending.count } }
    /// All requested delays so far, in seconds.
    package var asked: [Double] { state.withLock { $0.asked } }

    package var source: DelaySource {
        DelaySource { nanoseconds, body in
            let now = self.clock.source.monotonicNanoseconds()
            let id = self.state.withLock { state -> Int in
                state.nextID += 1
                state.pending[state.nextID] = (now + nanoseconds, body)
                state.asked.append(Double(nanoseconds) / 1e9)
                return state.nextID
            }
            return { withExtendedLifetime(self.state.withLock { $0.pending.removeValue(forKey: id) }) {} }
        }
    }

    /// Lets time pass, and runs the calls that are due.
    package func advance(_ seconds: Double) {
        clock.advance(seconds)
        let now = clock.source.monotonicNanoseconds()
        let due = state.withLock { state in
            let due = state.pending.filter { $0.value.due <= now }
            for id in due.keys { state.pending[id] = nil }
            return due.values.sorted { $0.due < $1.due }
        }
        for item in due { item.body() }
    }

    /// Runs all waiting calls, however long that would take. Without any, no time passes.
    package func runAll() {
        guard let last = state.withLock({ $0.pending.values.map(\.due).max() }) else { return }
        let now = clock.source.monotonicNanoseconds()
        advance(last > now ? Double(last - now) / 1e9 + 0.001 : 0)
    }
}
