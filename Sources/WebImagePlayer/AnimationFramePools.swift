/// The pools of the animations that have players: one for each provider, as long as it has any. Those whose frames come from one decoder
/// share a lane.
package final class AnimationFramePools: Sendable {
    package static let shared = AnimationFramePools(memoryPressure: .shared)

    private struct Entry {
        let pool: AnimationFramePool
        var players = 0
    }

    private struct Lane {
        let lane: AnimationLane
        var pools = 0
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var lanes: [ObjectIdentifier: Lane] = [:]
        var nextPlayer: UInt64 = 0
        var observation: MemoryPressureMonitor.Registration?
    }

    private let memoryPressure: MemoryPressureMonitor?
    private let queue: WorkQueue
    private let state = Lock(State())

    init(memoryPressure: MemoryPressureMonitor? = nil, queue: WorkQueue = CodingQueue.frames) {
        self.memoryPressure = memoryPressure
        self.queue = queue
    }

    /// Pools that exist.
    var count: Int { state.withLock { $0.entries.count } }

    /// The pool of a provider, and a number for the player. To be ended with ``leave(_:player:)``.
    func join(_ provider: any AnimatedImageProvider) -> (pool: AnimationFramePool, player: UInt64) {
        defer { observeMemoryPressure() }
        let decoder = provider.frameDecoder
        return state.withLock { state in
            let key = ObjectIdentifier(provider)
            var entry = state.entries[key] ?? makeEntry(provider, decoder, &state)
            entry.players += 1
            state.entries[key] = entry
            state.nextPlayer += 1
            return (entry.pool, state.nextPlayer)
        }
    }

    private func makeEntry(
        _ provider: any AnimatedImageProvider,
        _ decoder: any AnimatedImageProvider,
        _ state: inout State
    ) -> Entry {
        let key = ObjectIdentifier(decoder)
        var lane =
            state.lanes[key] ?? Lane(lane: AnimationLane(decoder, queue: CodingQueue.queue(of: decoder, else: queue)))
        lane.pools += 1
        state.lanes[key] = lane
        return Entry(pool: AnimationFramePool(provider, lane: lane.lane))
    }

    /// A player has gone; with the last one go the pool and its frames, and with the last pool of a decoder what that keeps.
    func leave(_ pool: AnimationFramePool, player: UInt64) {
        pool.forget(player)
        // Listening to memory pressure takes a thread, so that ends with the last pool, outside the lock.
        let (isUnused, observation) = state.withLock { state -> (Bool, MemoryPressureMonitor.Registration?) in
            let key = ObjectIdentifier(pool.provider)
            guard var entry = state.entries[key], entry.pool === pool else { return (false, nil) }
            entry.players -= 1
            guard entry.players == 0 else {
                state.entries[key] = entry
                return (false, nil)
            }
            state.entries[key] = nil
            let isUnused = Self.leave(pool.lane, &state)
            guard state.entries.isEmpty else { return (isUnused, nil) }
            defer { state.observation = nil }
            return (isUnused, state.observation)
        }
        if isUnused {
            // By then someone may play it again.
            pool.lane.releaseDecoder { [self] in
                state.withLock { $0.lanes[ObjectIdentifier(pool.lane.decoder)] == nil }
            }
        }
        withExtendedLifetime(observation) {}
    }

    private static func leave(_ lane: AnimationLane, _ state: inout State) -> Bool {
        let key = ObjectIdentifier(lane.decoder)
        guard var entry = state.lanes[key] else { return false }
        entry.pools -= 1
        state.lanes[key] = entry.pools > 0 ? entry : nil
        return entry.pools == 0
    }

    /// Drops all frames of all pools but those that are shown next; those that are shown stay with who shows them.
    package func removeAllFrames() {
        let pools = state.withLock { $0.entries.values.map(\.pool) }
        for pool in pools { pool.removeAll() }
    }

    private func observeMemoryPressure() {
        guard let memoryPressure, state.withLock({ $0.observation == nil }) else { return }
        let observation = memoryPressure.register { [weak self] _ in self?.removeAllFrames() }
        let surplus = state.withLock { state -> MemoryPressureMonitor.Registration? in
            guard state.observation == nil, !state.entries.isEmpty else { return observation }
            state.observation = observation
            return nil
        }
        withExtendedLifetime(surplus) {}
    }
}
