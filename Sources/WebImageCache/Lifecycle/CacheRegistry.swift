/// The caches of the program, for operations on all of them. Holds them weakly.
package final class CacheRegistry: Sendable {
    package static let shared = CacheRegistry()

    private struct State {
        var entries: [@Sendable () -> CacheMaintenance?] = []
        var isTerminating = false
        var isDone = false
    }

    private let state = Lock(State())
    private let end = Latch()
    private let clock: ClockSource

    init(clock: ClockSource = .system) { self.clock = clock }

    /// Adds a cache; it is removed when it is deallocated.
    func add(_ upkeep: CacheMaintenance) {
        state.withLock { state in
            state.entries.removeAll { $0() == nil }
            state.entries.append { [weak upkeep] in upkeep }
        }
    }

    package var upkeeps: [CacheMaintenance] { state.withLock { $0.entries.compactMap { $0() } } }

    /// The length of the list, including released caches.
    var entryCount: Int { state.withLock { $0.entries.count } }

    /// Flushes pending writes of all caches, then trims all, in this order: stored data matters more than space. A second call
    /// waits for the first.
    func terminate(within seconds: Double) -> Bool {
        let isFirst = state.withLock { state -> Bool in
            defer { state.isTerminating = true }
            return !state.isTerminating
        }
        guard isFirst else { return end.wait(seconds: seconds) && state.withLock { $0.isDone } }
        defer { end.open() }
        let start = clock.monotonicNanoseconds()
        func left() -> Double { max(seconds - Double(clock.monotonicNanoseconds() &- start) / 1e9, 0) }
        let upkeeps = upkeeps
        var isDone = true
        for upkeep in upkeeps { isDone = upkeep.waitUntilWritten(within: left()) && isDone }
        for upkeep in upkeeps { isDone = upkeep.trimForExit(within: left()) && isDone }
        state.withLock { $0.isDone = isDone }
        return isDone
    }
}
