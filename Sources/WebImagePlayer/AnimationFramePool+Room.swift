extension AnimationFramePool {
    enum Room {
        case there(MemoryReservation?)
        case awaited
        case refused
    }

    /// Room for the next frame. Who has to wait for it gets another turn when it is there.
    func room(_ priority: LoadPriority) -> Room {
        let need = budget.isOn ? frameNeed : 0
        // Frames that are there take nothing, so they need not wait either.
        guard need > 0 else {
            giveUpRoom()
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
            // Nobody may need the frame by now.
            if !state.withLock({ $0.room.waits(for: request) }) { budget.cancel(request) }
            if state.withLock({ $0.buffer.next() == nil }) { giveUpRoom() }
            return .awaited
        }
    }

    /// Gives back what is reserved for a frame that nobody needs, or takes back that it is asked for.
    func giveUpRoom() {
        let (request, answer) = state.withLock { $0.room.giveUp() }
        withExtendedLifetime(answer) {}
        if let request { budget.cancel(request) }
    }

    private func answered(_ answer: DecodedMemoryBudget.Answer) {
        let priority = state.withLock { state in
            state.room.answered(answer)
            return state.buffer.next()?.priority
        }
        // In any case somebody has to come, if only to give it back.
        lane.request(self, priority ?? .low)
    }

    private func taken(_ answer: DecodedMemoryBudget.Answer) -> Room {
        guard case .admitted(let reservation) = answer else { return .refused }
        lane.charge(provider.frameNeed().keptByteCount, of: reservation)
        return .there(reservation)
    }

    /// Bytes for the next frame, and for what the decoder is going to keep, as long as that does not count yet.
    private var frameNeed: Int {
        let most = state.withLock { $0.frameByteCount }
        let need = provider.frameNeed(atLeast: most)
        return need.byteCount + (lane.isCharged ? 0 : need.keptByteCount)
    }
}
