/// Decodes the frames of one animation for all its players, one at a time, and keeps those that are needed.
final class AnimationFramePool: Sendable {
    struct State {
        var buffer = AnimationFrameBuffer<Image>()
        var decodedCount = 0
        /// The memory reservation for the next frame, while a budget is on.
        var room = FrameReservation()
        /// The bytes of the largest frame so far.
        var frameByteCount = 0
        /// The last value passed to the lane.
        var isPlaying = false
    }

    let provider: any AnimatedImageProvider
    let lane: AnimationLane
    let budget: DecodedMemoryBudget
    let state = Lock(State())

    init(_ provider: any AnimatedImageProvider, lane: AnimationLane, budget: DecodedMemoryBudget = .shared) {
        self.provider = provider
        self.lane = lane
        self.budget = budget
    }

    deinit { releaseReservation() }

    /// The number of frames in memory.
    var count: Int { state.withLock { $0.buffer.count } }
    /// The number of frames decoded so far.
    var decodedCount: Int { state.withLock { $0.decodedCount } }

    func contains(_ index: Int) -> Bool { state.withLock { $0.buffer.contains(index) } }

    /// Looks up a frame to show it.
    func use(_ index: Int) -> AnimationFrameBuffer<Image>.Lookup { state.withLock { $0.buffer.use(index) } }

    /// Sets the frames that a playing player needs next; missing ones are decoded on the threads for frames.
    ///
    /// - Parameters:
    ///   - isWaiting: True if the first of them is already due.
    ///   - byteLimit: The maximum bytes of frames that the player allows.
    ///   - first: Frame 0, if the player has it already.
    func wish(_ player: UInt64, for indices: [Int], isWaiting: Bool, byteLimit: Int, first: Image? = nil) {
        change { buffer in
            var dropped = buffer.wish(player, for: indices, isWaiting: isWaiting, byteLimit: byteLimit)
            if let first, !buffer.contains(0) {
                dropped += buffer.insert(first, at: 0, byteCount: first.pixelByteCount)
            }
            return dropped
        }
    }

    /// Marks a player as paused: nothing is decoded for it, and its frames may be evicted.
    func withdraw(_ player: UInt64) { change { $0.withdraw(player) } }

    /// Removes the frames that the player does not need next, unless another player plays.
    func dropUnneeded(by player: UInt64) { change { $0.dropUnneeded(by: player) } }

    /// Removes a player.
    func forget(_ player: UInt64) { change { $0.forget(player) } }

    /// Removes all frames except the next ones of playing players, and the decoder's own buffers.
    func removeAll() {
        change { $0.removeAll() }
        lane.releaseDecoder()
    }

    private func change(_ body: (inout AnimationFrameBuffer<Image>) -> [Image]) {
        let (dropped, next, playing) = state.withLock { state -> ([Image], LoadPriority?, Bool?) in
            let dropped = body(&state.buffer)
            let isPlaying = state.buffer.isPlaying
            defer { state.isPlaying = isPlaying }
            return (dropped, state.buffer.next()?.priority, state.isPlaying == isPlaying ? nil : isPlaying)
        }
        withExtendedLifetime(dropped) {}
        if let playing { lane.setPlaying(playing) }
        if let next { lane.request(self, next) } else { releaseReservation() }
    }

    /// The number of parts of a frame decoded per turn, so that cancellation takes effect soon and other pools get their turn.
    private static let partsPerTurn = 8

    /// Decodes the next frame that is needed, or a part of it, on this thread. Called by the lane.
    ///
    /// - Returns: The priority of the next turn; nil if there is nothing left to do.
    func decodeNext() -> LoadPriority? {
        guard let (index, priority) = state.withLock({ $0.buffer.next() }) else {
            // The frame of a pending reservation may no longer be needed.
            releaseReservation()
            return nil
        }
        let reservation: MemoryReservation?
        switch room(priority) {
        case .there(let given): reservation = given
        case .awaited: return nil
        case .refused: return pass(index)
        }
        var parts = 1
        let frame: Image?
        do throws(WebImageError) {
            frame = try provider.partOfFrame(at: index) {
                parts += 1
                return parts <= Self.partsPerTurn && state.withLock { $0.buffer.lacks(index) }
            }
        } catch {
            reservation?.end()
            return take(nil, at: index)
        }
        guard let image = frame else {
            // Only a part of the frame is decoded.
            reservation?.end()
            return state.withLock { $0.buffer.next()?.priority }
        }
        if let reservation { reservation.end(holding: image) } else { budget.hold(image) }
        return take(image, at: index)
    }

    /// Stores a frame, or records that it is undecodable. Returns the priority of the next one.
    private func take(_ frame: Image?, at index: Int) -> LoadPriority? {
        let (dropped, next) = state.withLock { state -> ([Image], LoadPriority?) in
            state.decodedCount += 1
            state.frameByteCount = max(state.frameByteCount, frame?.pixelByteCount ?? 0)
            let dropped = state.buffer.insert(frame, at: index, byteCount: frame?.pixelByteCount ?? 0)
            return (dropped, state.buffer.next()?.priority)
        }
        withExtendedLifetime(dropped) {}
        return next
    }

    /// Skips a frame this time. Returns the priority of the next one.
    private func pass(_ index: Int) -> LoadPriority? {
        state.withLock { state in
            state.buffer.pass(index)
            return state.buffer.next()?.priority
        }
    }
}

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

/// The memory request of an animation for its next frame: one at a time, and no answer is lost. Pure logic.
struct FrameReservation {
    typealias Answer = DecodedMemoryBudget.Answer

    /// The next step to reserve memory for a frame.
    enum Step {
        case take(Answer)
        /// Already requested; the request takes on the frame's current priority.
        case wait(UInt64?)
        case ask
    }

    private var request: UInt64?
    private var answer: Answer?
    private var isWaiting = false

    /// Begins a reservation for a frame.
    mutating func begin() -> Step {
        if let answer = answer.take() { return .take(answer) }
        guard !isWaiting else { return .wait(request) }
        isWaiting = true
        return .ask
    }

    /// Records the identifier of a request that is answered later.
    ///
    /// - Returns: True if the request is still wanted; otherwise the caller cancels it.
    mutating func waits(for id: UInt64) -> Bool {
        if isWaiting { request = id }
        return isWaiting || answer != nil
    }

    /// Stores the budget's answer until it is taken.
    mutating func answered(_ answer: Answer?) {
        (request, isWaiting) = (nil, false)
        self.answer = answer
    }

    /// Ends the request: no frame is needed any more.
    ///
    /// - Returns: The request to cancel, and the answer to release outside of locks.
    mutating func giveUp() -> (request: UInt64?, answer: Answer?) {
        isWaiting = false
        return (request.take(), answer.take())
    }
}
