/// The caches of a program, and what is done to all of them. Holds none of them.
package final class CacheRegistry: Sendable {
    package static let shared = CacheRegistry()

    private struct State {
        var entries: [@Sendable () -> CacheUpkeep?] = []
        var isTerminating = false
        var isDone = false
    }

    private let state = Lock(State())
    private let end = Latch()
    private let clock: ClockSource

    init(clock: ClockSource = .system) { self.clock = clock }

    /// Adds a cache, for as long as it lives.
    func add(_ upkeep: CacheUpkeep) {
        state.withLock { state in
            state.entries.removeAll { $0() == nil }
            state.entries.append { [weak upkeep] in upkeep }
        }
    }

    package var upkeeps: [CacheUpkeep] { state.withLock { $0.entries.compactMap { $0() } } }

    /// The list's length, of those that are gone included.
    var entryCount: Int { state.withLock { $0.entries.count } }

    /// Writes what waits in all caches, then trims all, in that order: what was stored is worth more than space. A second
    /// call waits for the first.
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
