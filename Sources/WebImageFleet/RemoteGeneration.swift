import WebImageCache

/// The generation of the entries of a store. It is part of their names, so a new one makes all older entries invisible at once; the store
/// evicts them in time.
///
/// Machines read it again when they use the store, after times that the store chooses (``Times``). While the store does not answer, the last one
/// is used for a limited time, and no load waits for an answer.
final class RemoteGeneration: Sendable {
    /// Times since a generation was asked for, in nanoseconds. The default ones are for a store that answers within a millisecond.
    struct Times: Sendable, Hashable {
        /// The time after which it is read again while loads go on with the last one.
        var refresh: UInt64 = 1_000_000_000
        /// The time after which loads wait for it to be read again.
        var freshness: UInt64 = 1_000_000_000
        /// The time for which it is used if it cannot be read again.
        var longestUse: UInt64 = 10_000_000_000
    }

    typealias Completion = @Sendable (_ generation: String?) -> Void

    private struct State {
        var known: String?
        /// The time of the request that was answered last.
        var readAt: UInt64 = 0
        var isReading = false
        /// True if the last request was not answered. The next one may take as long, and no load shall wait for it: with an open circuit there
        /// is one for each probe.
        var hasFailed = false
        /// Counts the changes by this machine: an answer to an older request must not undo one.
        var changes = 0
        var waiting: [Completion] = []

        func isKnown(for time: UInt64, at now: UInt64) -> Bool { known != nil && now &- readAt < time }
    }

    private let store: any RemoteStore
    private let times: Times
    private let clock: ClockSource
    private let state = Lock(State())

    init(_ store: any RemoteStore, clock: ClockSource) {
        self.store = store
        times = store.generationTimes
        self.clock = clock
    }

    /// Calls `completion` with the generation: at once if it was read a moment ago, or if the store did not answer then, otherwise on a thread
    /// of the store. Nil if it is not known, and the store cannot be used.
    func current(_ completion: @escaping Completion) {
        let now = clock.monotonicNanoseconds()
        let (known, isWaiting, changes) = state.withLock { state -> (String?, Bool, Int?) in
            let known = state.isKnown(for: times.freshness, at: now) ? state.known : nil
            let isWaiting = known == nil && !state.hasFailed
            if isWaiting { state.waiting.append(completion) }
            guard !state.isReading, !state.isKnown(for: times.refresh, at: now) else { return (known, isWaiting, nil) }
            state.isReading = true
            return (known, isWaiting, state.changes)
        }
        if let known { completion(known) }
        if let changes { store.generation(orNew: Self.random()) { self.took($0, askedAt: now, changes) } }
        guard known == nil, !isWaiting else { return }
        completion(state.withLock { $0.isKnown(for: times.longestUse, at: now) ? $0.known : nil })
    }

    private func took(_ found: String?, askedAt time: UInt64, _ changes: Int) {
        let now = clock.monotonicNanoseconds()
        let (known, waiting) = state.withLock { state -> (String?, [Completion]) in
            state.isReading = false
            state.hasFailed = found == nil
            if let found, state.changes == changes { (state.known, state.readAt) = (Self.name(found), time) }
            defer { state.waiting = [] }
            return (state.isKnown(for: times.longestUse, at: now) ? state.known : nil, state.waiting)
        }
        for completion in waiting { completion(known) }
    }

    /// Begins a new generation. `completion` gets false if the store did not confirm it.
    func renew(_ completion: @escaping @Sendable (Bool) -> Void) {
        let new = Self.random()
        // From here on, older entries are not found on this machine either.
        let changes = state.withLock { state -> Int in
            state.changes += 1
            state.known = nil
            return state.changes
        }
        store.setGeneration(new) { isSet in
            let now = self.clock.monotonicNanoseconds()
            self.state.withLock { state in
                if isSet, state.changes == changes { (state.known, state.readAt) = (Self.name(new), now) }
            }
            completion(isSet)
        }
    }

    /// The store may contain anything. A store without generations has an empty one.
    private static func name(_ generation: String) -> String {
        generation.isEmpty ? "" : Hashing.md5Hex(generation)
    }

    static func random() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }
}
