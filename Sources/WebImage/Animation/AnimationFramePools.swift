/// The pools of the animations that have players: one for each provider, as long as it has any.
final class AnimationFramePools: Sendable {
    static let shared = AnimationFramePools(memoryPressure: .shared)

    private struct Entry {
        let pool: AnimationFramePool
        var players = 0
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var nextPlayer: UInt64 = 0
        var observation: MemoryPressureMonitor.Registration?
    }

    private let memoryPressure: MemoryPressureMonitor?
    private let queue: WorkQueue
    private let state = Lock(State())

    init(memoryPressure: MemoryPressureMonitor? = nil, queue: WorkQueue = CodingQueue.shared) {
        self.memoryPressure = memoryPressure
        self.queue = queue
    }

    /// Pools that exist.
    var count: Int { state.withLock { $0.entries.count } }

    /// The pool of a provider, and a number for the player. To be ended with ``leave(_:player:)``.
    func join(_ provider: any AnimatedImageProvider) -> (pool: AnimationFramePool, player: UInt64) {
        defer { observeMemoryPressure() }
        return state.withLock { state in
            let key = ObjectIdentifier(provider)
            var entry = state.entries[key] ?? Entry(pool: AnimationFramePool(provider, queue: queue))
            entry.players += 1
            state.entries[key] = entry
            state.nextPlayer += 1
            return (entry.pool, state.nextPlayer)
        }
    }

    /// A player has gone; with the last one go the pool and its frames.
    func leave(_ pool: AnimationFramePool, player: UInt64) {
        pool.forget(player)
        // Listening to memory pressure takes a thread, so that ends with the last pool, outside the lock.
        let (last, observation) = state.withLock {
            state -> (AnimationFramePool?, MemoryPressureMonitor.Registration?) in
            let key = ObjectIdentifier(pool.provider)
            guard var entry = state.entries[key], entry.pool === pool else { return (nil, nil) }
            entry.players -= 1
            state.entries[key] = entry.players > 0 ? entry : nil
            guard state.entries.isEmpty else { return (entry.players > 0 ? nil : pool, nil) }
            defer { state.observation = nil }
            return (pool, state.observation)
        }
        last?.removeAll()
        withExtendedLifetime(observation) {}
    }

    /// Drops all frames of all pools; those that are shown stay with who shows them.
    func removeAllFrames() {
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
