/// Bytes of a budget that a decode has until it ends, or until this object goes.
final class MemoryReservation: Sendable {
    /// What is left of its load's patience.
    let patience: MemoryPatience
    private let budget: DecodedMemoryBudget
    /// Nil when the decode is over.
    private let state: Lock<State?>

    private struct State {
        var byteCount: Int
        /// Whether the pixels are there.
        var isMade = false
        /// Whether another step has what is left.
        var isHandedOver = false
    }

    init(_ byteCount: Int, of budget: DecodedMemoryBudget, patience: MemoryPatience) {
        state = Lock(State(byteCount: byteCount))
        self.budget = budget
        self.patience = patience
    }

    deinit {
        if let state = state.withLock({ $0 }) { budget.giveUp(state.byteCount, isDelivered: state.isMade) }
    }

    /// Bytes that are reserved.
    var byteCount: Int { state.withLock { $0?.byteCount ?? 0 } }

    /// The pixels are there, and count from now on in place of what was reserved for them. The decode is not over before ``end()``: until
    /// then others wait for it rather than be told that there is no room. To be called by whoever decodes, before others get to know
    /// of this object.
    ///
    /// - Parameter kept: how many bytes stay reserved for what is made of the image, as far as they are there.
    func hold(_ image: Image, keeping kept: Int = 0) {
        guard let former = state.withLock({ $0 }) else { return budget.hold(image) }
        let rest = budget.made(image, of: former.byteCount, keeping: kept, again: former.isMade)
        state.withLock { state in
            state?.byteCount = rest
            state?.isMade = true
        }
    }

    /// So many bytes of it are taken for longer than the decode. To be called by whoever decodes.
    func charge(_ count: Int) -> MemoryCharge? {
        guard let former = state.withLock({ $0 }), count <= former.byteCount else { return nil }
        state.withLock { $0?.byteCount -= count }
        return budget.charge(count, of: former.byteCount)
    }

    /// The decode is over: what it made was stored and handed over, or let go of.
    func end() { if let state = take() { budget.end(state.byteCount, isDelivered: state.isMade) } }

    /// Both at once, where nothing is stored.
    func end(holding image: Image) {
        hold(image)
        end()
    }

    /// What is still reserved, for another step; nil if that is less than is needed, or somebody else has it. The decode has to end all the
    /// same: its thread may still hold the image when the other step is over.
    func handOver(atLeast needed: Int = 0) -> MemoryReservation? {
        let count = state.withLock { state -> Int? in
            guard let there = state, there.byteCount >= needed, !there.isHandedOver else { return nil }
            budget.goOn()
            state?.byteCount = 0
            state?.isHandedOver = true
            return there.byteCount
        }
        return count.map { MemoryReservation($0, of: budget, patience: patience) }
    }

    private func take() -> State? {
        state.withLock { state in
            defer { state = nil }
            return state
        }
    }
}

/// Bytes of pixels that live, counted against a budget as long as this object does.
final class MemoryCharge: Sendable {
    private let byteCount: Int
    private let budget: DecodedMemoryBudget

    init(_ byteCount: Int, to budget: DecodedMemoryBudget) {
        self.byteCount = byteCount
        self.budget = budget
    }

    deinit { budget.release(byteCount) }
}

extension Image {
    /// The memory of its pixels, and of its frames that are in memory.
    var storages: [PixelStorage] {
        guard let frames = animation?.loadedFrames, !frames.isEmpty else { return [bitmap.storage] }
        return [bitmap.storage] + frames.map(\.bitmap.storage)
    }
}
