/// A table of objects with a limit for their total cost, and for their number: the same eviction policy as that of ``MemoryCache``, for
/// values that are not images.
///
/// Lookups and writes take one lock, so it suits values that are expensive enough, such as encoded images. Objects are released outside
/// the lock.
package final class EvictingTable<Value: AnyObject & Sendable>: Sendable {
    private struct State: ~Copyable {
        var table = CacheTable<Value>()
        var policy: EvictionPolicy

        func find(_ key: MemoryCacheKey) -> (id: UInt32, value: Value)? {
            KeyHash.withBytes(of: key.string) { table.find(key.keyHash, $0) }
        }

        mutating func take(_ id: UInt32) -> Value? {
            policy.remove(id)
            return table.remove(id)
        }
    }

    private let state: Lock<State>

    /// - Parameters:
    ///   - costLimit: The maximum total cost; 0 for no limit.
    ///   - countLimit: The maximum number of objects; 0 for no limit.
    package init(costLimit: Int, countLimit: Int = 0) {
        let limits = EvictionLimits(cost: max(costLimit, 0), count: max(countLimit, 0))
        state = Lock(State(policy: EvictionPolicy(limits: limits)))
    }

    deinit { state.withLock { state in for id in state.policy.ids { _ = state.table.remove(id) } } }

    /// The total cost of all objects.
    package var totalCost: Int { state.withLock { $0.policy.totalCost } }
    /// The number of objects.
    package var count: Int { state.withLock { $0.policy.count } }

    /// Returns the object of a key, and counts this as a use; nil if there is none.
    package func value(forKey key: MemoryCacheKey) -> Value? {
        state.withLock { state in
            guard let (id, value) = state.find(key) else { return nil }
            state.policy.touch(id)
            return value
        }
    }

    /// Stores an object in place of one with the same key. An object that costs more than the limit is not stored.
    package func set(_ value: Value, cost: Int, forKey key: MemoryCacheKey) {
        // Released when the lock is not held.
        var released: [Value?] = []
        state.withLock { state in
            if let (id, _) = state.find(key) { released.append(state.take(id)) }
            let cost = min(max(cost, 0), 1 << 40)
            guard state.policy.admits(cost: cost) else { return }
            let id = state.policy.insert(hash: key.keyHash, cost: cost)
            KeyHash.withBytes(of: key.string) { state.table.insert(id, key.keyHash, $0, value) }
            while let victim = state.policy.victim() { released.append(state.take(victim.id)) }
        }
        withExtendedLifetime(released) {}
    }

    /// Removes the object of a key.
    package func remove(_ key: MemoryCacheKey) {
        let released = state.withLock { state in state.find(key).map { state.take($0.id) } }
        withExtendedLifetime(released) {}
    }
}
