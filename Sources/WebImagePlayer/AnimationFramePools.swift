/// The frame pools of all animations that have players: one per provider, as long as it has any. Pools whose frames come from the same
/// decoder share a lane.
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

    /// The number of pools.
    var count: Int { state.withLock { $0.entries.count } }

    /// Returns the pool of a provider and an identifier for the player. Balance it with ``leave(_:player:)``.
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

    /// Removes a player. The last player releases the pool and its frames; the last pool of a decoder releases the decoder's
    /// buffers.
    func leave(_ pool: AnimationFramePool, player: UInt64) {
        pool.forget(player)
        // Listening to memory pressure takes a thread, so it ends with the last pool, outside the lock.
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
            // A new player may have joined by then.
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

    /// Removes all frames of all pools except those shown next; players keep the frames that they show.
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
