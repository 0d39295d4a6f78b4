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

    /// Has the budget ask for room there when there is none, as long as the holder lives.
    package func attach(_ holder: any PixelHolder) {
        // What is looked at may be the last reference by now, and what goes with a cache comes back here: that has to be outside the lock.
        let seen = state.withLock { state -> [any PixelHolder] in
            let there = state.holders.compactMap(\.holder)
            if !there.contains(where: { $0 === holder }) {
                state.holders = (there + [holder]).map(WeakHolder.init)
            }
            return there
        }
        withExtendedLifetime(seen) {}
    }

    /// Tries to free so many bytes.
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
