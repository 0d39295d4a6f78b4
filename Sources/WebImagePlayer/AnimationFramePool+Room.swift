extension AnimationFramePool {
    enum Room {
        case there(MemoryReservation?)
        case awaited
        case refused
    }

    /// Reserves memory for the next frame. If it has to wait for the budget, the pool gets another turn once the budget answers.
    func room(_ priority: LoadPriority) -> Room {
        let need = budget.isOn ? frameNeed : 0
        // Frames that are decoded already reserve nothing, so they need not wait either.
        guard need > 0 else {
            releaseReservation()
            return .there(nil)
        }
        switch state.withLock({ $0.room.begin() }) {
        case .take(let answer): return taken(answer)
        case .wait(let request):
            if let request { budget.setPriority(priority, of: request) }
            return .awaited
        case .ask: break
        }
        let outcome = budget.request(need, priority: priority, mayShrink: false) { [weak self] in self?.answered($0) }
        switch outcome {
        case .answered(let answer):
            state.withLock { $0.room.answered(nil) }
            return taken(answer)
        case .waiting(let request):
            // The frame may no longer be needed.
            if !state.withLock({ $0.room.waits(for: request) }) { budget.cancel(request) }
            if state.withLock({ $0.buffer.next() == nil }) { releaseReservation() }
            return .awaited
        }
    }

    /// Releases the reservation of a frame that is no longer needed, or cancels its request.
    func releaseReservation() {
        let (request, answer) = state.withLock { $0.room.giveUp() }
        withExtendedLifetime(answer) {}
        if let request { budget.cancel(request) }
    }

    private func answered(_ answer: DecodedMemoryBudget.Answer) {
        let priority = state.withLock { state in
            state.room.answered(answer)
            return state.buffer.next()?.priority
        }
        // A turn is needed in any case, if only to release the reservation.
        lane.request(self, priority ?? .low)
    }

    private func taken(_ answer: DecodedMemoryBudget.Answer) -> Room {
        guard case .admitted(let reservation) = answer else { return .refused }
        lane.charge(provider.frameNeed().keptByteCount, of: reservation)
        return .there(reservation)
    }

    /// The bytes of the next frame, and of what the decoder is going to keep as long as that is not charged yet.
    private var frameNeed: Int {
        let most = state.withLock { $0.frameByteCount }
        let need = provider.frameNeed(atLeast: most)
        return need.byteCount + (lane.isCharged ? 0 : need.keptByteCount)
    }
}
