/// Writes and removals beside those of a disk cache's own queue, for example to a remote store.
package protocol PendingWrites: AnyObject, Sendable {
    /// Calls `completion` when all that was requested so far has been written or removed, or cannot be.
    func flush(completion: @escaping @Sendable () -> Void)
}

/// The caches of the program, for operations on all of them. Holds them weakly.
package final class CacheRegistry: Sendable {
    package static let shared = CacheRegistry()

    private struct State {
        var entries: [@Sendable () -> CacheMaintenance?] = []
        var writers: [@Sendable () -> (any PendingWrites)?] = []
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

    /// Adds a writer; it is removed when it is deallocated.
    package func add(_ writer: any PendingWrites) {
        state.withLock { state in
            state.writers.removeAll { $0() == nil }
            state.writers.append { [weak writer] in writer }
        }
    }

    /// Waits for the pending writes of all writers, without a time limit. Those of disk caches have their own `flush()`, which goes before.
    package func flushWriters() async {
        for writer in writers { await awaitCompletion { writer.flush(completion: $0) } }
    }

    private var writers: [any PendingWrites] { state.withLock { $0.writers.compactMap { $0() } } }

    package var upkeeps: [CacheMaintenance] { state.withLock { $0.entries.compactMap { $0() } } }

    /// The length of the list, including released caches.
    var entryCount: Int { state.withLock { $0.entries.count } }

    /// Flushes pending writes of all caches, first those to the disk, then trims all, in this order: stored data matters more than space.
    /// A second call waits for the first.
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
        let flushes = writers.map { writer in
            let latch = Latch()
            writer.flush { latch.open() }
            return latch
        }
        for flush in flushes { isDone = flush.wait(seconds: left()) && isDone }
        for upkeep in upkeeps { isDone = upkeep.trimForExit(within: left()) && isDone }
        state.withLock { $0.isDone = isDone }
        return isDone
    }
}
