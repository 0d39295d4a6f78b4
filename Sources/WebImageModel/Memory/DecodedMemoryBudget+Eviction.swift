extension DecodedMemoryBudget {
    /// Registers a reservation that can be released when another request needs room: previews of an image that is downloading.
    ///
    /// - Parameter body: called on any thread, without a lock; must not block. The memory may be released later.
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

    /// Registers a holder that is evicted from when there is no room, as long as it lives.
    package func attach(_ holder: any PixelHolder) {
        // These may be the last references, and the deallocation of a cache calls back into the budget: so they are released
        // outside the lock.
        let seen = state.withLock { state -> [any PixelHolder] in
            let there = state.holders.compactMap(\.holder)
            if !there.contains(where: { $0 === holder }) {
                state.holders = (there + [holder]).map(WeakHolder.init)
            }
            return there
        }
        withExtendedLifetime(seen) {}
    }

    /// Tries to free that many bytes.
    func evict(_ byteCount: Int) {
        let reclaims = state.withLock { Array($0.reclaims.values) }
        for body in reclaims { body() }
        let target = max(usage.heldByteCount - byteCount, 0)
        for holder in state.withLock({ $0.holders.compactMap(\.holder) }) {
            guard usage.heldByteCount > target else { return }
            holder.makeRoom { usage.heldByteCount - target }
        }
    }
}
