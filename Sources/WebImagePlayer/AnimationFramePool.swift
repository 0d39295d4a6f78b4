/// Decodes the frames of one animation for all its players, one at a time, and keeps those that are needed.
final class AnimationFramePool: Sendable {
    struct State {
        var buffer = AnimationFrameBuffer<Image>()
        var decodedCount = 0
        /// The turn that waits for room in the budget.
        var turn: Turn?
        var lastTurn: UInt64 = 0
        /// The bytes of the largest frame so far.
        var frameByteCount = 0
        /// The last value passed to the lane.
        var isPlaying = false
    }

    struct Turn {
        let number: UInt64
        var priority: LoadPriority
        var work: (any RunningWork)?
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
        var cancelled: Turn?
        let (dropped, next, playing) = state.withLock { state -> ([Image], LoadPriority?, Bool?) in
            let dropped = body(&state.buffer)
            let isPlaying = state.buffer.isPlaying
            defer { state.isPlaying = isPlaying }
            let next = state.buffer.next()?.priority
            if next == nil { cancelled = state.turn.take() }
            return (dropped, next, state.isPlaying == isPlaying ? nil : isPlaying)
        }
        withExtendedLifetime(dropped) {}
        if let playing { lane.setPlaying(playing) }
        if let next { lane.request(self, next) }
        if let cancelled {
            cancelled.work?.cancel()
            lane.endTurn(of: self, next: nil)
        }
    }

    /// The number of parts of a frame decoded per turn, so that cancellation takes effect soon and other pools get their turn.
    private static let partsPerTurn = 8

    /// Decodes the next frame that is needed, or a part of it, on this thread. Called in a turn.
    ///
    /// - Returns: The priority of the next turn; nil if there is nothing left to do.
    private func decodeNext() -> LoadPriority? {
        guard let index = state.withLock({ $0.buffer.next()?.index }) else { return nil }
        var parts = 1
        let frame: Image?
        do throws(WebImageError) {
            frame = try provider.partOfFrame(at: index) {
                parts += 1
                return parts <= Self.partsPerTurn && state.withLock { $0.buffer.lacks(index) }
            }
        } catch {
            return take(nil, at: index)
        }
        // Only a part of the frame is decoded.
        guard let frame else { return state.withLock { $0.buffer.next()?.priority } }
        budget.made(frame)
        return take(frame, at: index)
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

    /// Skips the next frame this time. Returns the priority of the one after it.
    private func passNext() -> LoadPriority? {
        state.withLock { state in
            if let index = state.buffer.next()?.index { state.buffer.pass(index) }
            return state.buffer.next()?.priority
        }
    }
}

/// Turns, which the lane gives and which end with ``AnimationLane/endTurn(of:next:)``.
extension AnimationFramePool {
    /// Decodes the next frame on this thread, or on one of the lane's once the budget has room for it.
    func beginTurn() {
        let need = budget.isOn ? frameNeed : 0
        // Frames that are decoded already need no memory, so they need not wait either.
        guard need > 0 else { return lane.endTurn(of: self, next: decodeNext()) }
        let turn = state.withLock { state -> Turn? in
            guard let priority = state.buffer.next()?.priority else { return nil }
            state.lastTurn += 1
            state.turn = Turn(number: state.lastTurn, priority: priority)
            return state.turn
        }
        guard let turn else { return lane.endTurn(of: self, next: nil) }
        let work = lane.queue.submit(cost: .bytes(need), of: budget, priority: turn.priority) { [self] admission in
            // Otherwise it was cancelled.
            guard state.withLock({ $0.takeTurn(turn.number) }) else { return }
            if case .failure = admission { return lane.endTurn(of: self, next: passNext()) }
            lane.charge(provider.frameNeed().keptByteCount, to: budget)
            lane.endTurn(of: self, next: decodeNext())
        }
        let priority = state.withLock { $0.attach(work, to: turn.number) }
        guard let priority else { return work.cancel() }
        if priority != turn.priority { work.setPriority(priority) }
    }

    /// Raises the priority of a turn that waits for the budget.
    func raisePriority(to priority: LoadPriority) {
        let work = state.withLock { state -> (any RunningWork)? in
            guard let turn = state.turn, turn.priority < priority else { return nil }
            state.turn?.priority = priority
            return turn.work
        }
        work?.setPriority(priority)
    }

    /// The bytes of the next frame, and of what the decoder is going to keep as long as that is not charged yet.
    private var frameNeed: Int {
        let most = state.withLock { $0.frameByteCount }
        let need = provider.frameNeed(atLeast: most)
        return need.byteCount + (lane.isCharged ? 0 : need.keptByteCount)
    }
}

extension AnimationFramePool.State {
    /// Returns false if the turn was cancelled.
    fileprivate mutating func takeTurn(_ number: UInt64) -> Bool {
        guard turn?.number == number else { return false }
        turn = nil
        return true
    }

    /// Returns the priority of the turn by now; nil if it has begun or was cancelled.
    fileprivate mutating func attach(_ work: any RunningWork, to number: UInt64) -> LoadPriority? {
        guard turn?.number == number else { return nil }
        turn?.work = work
        return turn?.priority
    }
}
