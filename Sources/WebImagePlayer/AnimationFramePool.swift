/// Decodes the frames of one animation for all who play it, one at a time, and keeps those that are needed.
final class AnimationFramePool: Sendable {
    struct State {
        var buffer = AnimationFrameBuffer<Image>()
        var decodedCount = 0
        /// Room in a budget, while one is on.
        var room = AnimationRoom()
        /// Of the biggest frame so far.
        var frameByteCount = 0
        /// What the lane was told.
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

    deinit { giveUpRoom() }

    /// Frames that are in memory.
    var count: Int { state.withLock { $0.buffer.count } }
    /// Frames that were decoded so far.
    var decodedCount: Int { state.withLock { $0.decodedCount } }

    func contains(_ index: Int) -> Bool { state.withLock { $0.buffer.contains(index) } }

    /// A frame that is there.
    func use(_ index: Int) -> AnimationFrameBuffer<Image>.Lookup { state.withLock { $0.buffer.use(index) } }

    /// Says what a player that plays needs next; what is not there is decoded, on the threads for frames.
    ///
    /// - Parameters:
    ///   - isWaiting: the first one should be seen already.
    ///   - byteLimit: the most bytes of frames that the player allows.
    ///   - first: the frame 0, if the player has it already.
    func wish(_ player: UInt64, for indices: [Int], isWaiting: Bool, byteLimit: Int, first: Image? = nil) {
        change { buffer in
            var dropped = buffer.wish(player, for: indices, isWaiting: isWaiting, byteLimit: byteLimit)
            if let first, !buffer.contains(0) {
                dropped += buffer.insert(first, at: 0, byteCount: first.pixelByteCount)
            }
            return dropped
        }
    }

    /// A player does not play now: nothing is decoded for it, and what is there for it may give way.
    func withdraw(_ player: UInt64) { change { $0.withdraw(player) } }

    /// Drops the frames that the player does not need next, if no other one plays.
    func dropUnneeded(by player: UInt64) { change { $0.dropUnneeded(by: player) } }

    /// A player has gone.
    func forget(_ player: UInt64) { change { $0.forget(player) } }

    /// Drops all frames but the next ones of those who play, and what the decoder keeps beside them.
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
        if let next { lane.request(self, next) } else { giveUpRoom() }
    }

    /// Parts of a frame in one turn: what is given up is given up soon, and others get their turn.
    private static let partsPerTurn = 8

    /// Decodes the next frame that is needed, or a part of it, on this thread. Called by the lane.
    ///
    /// - Returns: how urgent the next turn is; nil when there is nothing left to do.
    func decodeNext() -> LoadPriority? {
        guard let (index, priority) = state.withLock({ $0.buffer.next() }) else {
            // What it asked room for may have gone while that was awaited.
            giveUpRoom()
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
            // Only a part of it.
            reservation?.end()
            return state.withLock { $0.buffer.next()?.priority }
        }
        if let reservation { reservation.end(holding: image) } else { budget.hold(image) }
        return take(image, at: index)
    }

    /// Keeps a frame, or remembers that it cannot be had; how urgent the next one is.
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

    /// Does without a frame this time; how urgent the next one is.
    private func pass(_ index: Int) -> LoadPriority? {
        state.withLock { state in
            state.buffer.pass(index)
            return state.buffer.next()?.priority
        }
    }
}
