/// Bytes of a budget that a decode has until it ends, or until this object goes.
final class MemoryReservation: Sendable {
    /// How many.
    let byteCount: Int
    private let budget: DecodedMemoryBudget
    private let isOpen = Lock(true)

    init(_ byteCount: Int, of budget: DecodedMemoryBudget) {
        self.byteCount = byteCount
        self.budget = budget
    }

    deinit { if isOpen.withLock({ $0 }) { budget.giveUp(byteCount) } }

    /// The decode is over. From now on what it made counts, as long as that lives.
    func end(holding image: Image? = nil) {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if isFirst { budget.end(byteCount, holding: image) }
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
