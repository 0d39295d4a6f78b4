extension DecodedMemoryBudget {
    /// Something that can give up what it has reserved, when somebody else needs room: previews of a picture that is arriving.
    ///
    /// - Parameter body: called on any thread, without a lock; must not block. What it gives up may go later.
    /// - Returns: a number for ``removeReclaim(_:)``.
    func addReclaim(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastReclaim += 1
            state.reclaims[state.lastReclaim] = body
            return state.lastReclaim
        }
    }

    func removeReclaim(_ id: UInt64) {
        let former = state.withLock { $0.reclaims.removeValue(forKey: id) }
        withExtendedLifetime(former) {}
    }

    private var memoryCaches: [any MemoryCaching] {
        isProcessWide
            ? CacheRegistry.shared.upkeeps.map(\.memoryCache) : state.withLock { $0.caches.compactMap(\.memory) }
    }

    /// Tries to free so many bytes. What is evicted and still held by others frees nothing, so it goes on until enough has been freed
    /// or the caches are empty.
    func evict(_ byteCount: Int) {
        let reclaims = state.withLock { Array($0.reclaims.values) }
        for body in reclaims { body() }
        let target = max(usage.heldByteCount - byteCount, 0)
        for cache in memoryCaches {
            guard usage.heldByteCount > target else { return }
            guard let memory = cache as? MemoryCache else {
                cache.didReceiveMemoryWarning()
                continue
            }
            while case let cost = memory.totalCost, cost > 0, case let missing = usage.heldByteCount - target,
                missing > 0
            {
                memory.trim(toCost: max(cost - missing, 0))
            }
            // Images that are said to cost nothing have pixels, too.
            if usage.heldByteCount > target { memory.didReceiveMemoryWarning() }
        }
    }
}
