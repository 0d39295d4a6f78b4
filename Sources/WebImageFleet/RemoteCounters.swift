import WebImageCache

/// What was done with a store since the beginning: by one cache (``TieredImageCache/statistics``), or by all machines
/// (``RemoteStoreReport/statistics``).
public struct RemoteStatistics: Sendable, Hashable {
    /// The queries that found an entry.
    public internal(set) var hitCount = 0
    /// The queries that found none, after waiting for other machines.
    public internal(set) var missCount = 0
    /// The queries that the store did not answer in time, or answered with an error. They also count as misses.
    public internal(set) var failureCount = 0
    /// The values that were not used because their message authentication code was missing or wrong. They also count as misses.
    public internal(set) var refusedCount = 0
    /// The bytes of values that were found.
    public internal(set) var readByteCount = 0
    /// The values that were stored.
    public internal(set) var storeCount = 0
    /// The bytes of these values.
    public internal(set) var storedByteCount = 0
    /// The number of times that the circuit breaker of a node has opened.
    public internal(set) var circuitOpeningCount = 0

    /// The properties by the names of their sums in a store, which other versions may have written.
    static let fields: [(name: String, path: any WritableKeyPath<RemoteStatistics, Int> & Sendable)] = [
        ("hits", \.hitCount), ("misses", \.missCount), ("failures", \.failureCount), ("refused", \.refusedCount),
        ("read", \.readByteCount), ("stores", \.storeCount), ("stored", \.storedByteCount),
        ("openings", \.circuitOpeningCount),
    ]
}

/// Counts for one cache, and adds the counts to those of all machines in the store, in batches.
final class RemoteCounters: Sendable {
    private struct State {
        var counts = RemoteStatistics()
        /// The counts that the store has.
        var sent = RemoteStatistics()
        var isScheduled = false
        var isSending = false
    }

    private let store: any RemoteStore
    private let delays: DelaySource
    private let state = Lock(State())

    init(_ store: any RemoteStore, delays: DelaySource) {
        self.store = store
        self.delays = delays
    }

    var statistics: RemoteStatistics {
        var counts = state.withLock { $0.counts }
        counts.circuitOpeningCount = store.circuits.openingCount
        return counts
    }

    func count(_ change: (inout RemoteStatistics) -> Void) {
        let isFirst = state.withLock { state in
            change(&state.counts)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        _ = delays.after(store.countInterval) { [weak self] in self?.send {} }
    }

    /// Adds what has been counted to the sums in the store. Counts that the store does not take are tried again with later ones.
    func send(completion: @escaping @Sendable () -> Void) {
        let openings = store.circuits.openingCount
        let (counts, added) = state.withLock { state -> (RemoteStatistics, [(String, Int)]) in
            state.isScheduled = false
            state.counts.circuitOpeningCount = openings
            guard !state.isSending else { return (state.counts, []) }
            let added = RemoteStatistics.fields.compactMap { name, path -> (String, Int)? in
                let count = state.counts[keyPath: path] - state.sent[keyPath: path]
                return count > 0 ? (name, count) : nil
            }
            state.isSending = !added.isEmpty
            return (state.counts, added)
        }
        guard !added.isEmpty else { return completion() }
        store.add(added) { isAdded in
            self.state.withLock { state in
                state.isSending = false
                if isAdded { state.sent = counts }
            }
            completion()
        }
    }
}
