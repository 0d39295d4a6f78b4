/// Decodes the frames of one animation for all who play it, one at a time, and keeps those that are needed.
final class AnimationFramePool: Sendable {
    private struct State {
        var buffer = AnimationFrameBuffer<Image>()
        var isFetching = false
        var decodedCount = 0
    }

    let provider: any AnimatedImageProvider
    private let queue: WorkQueue
    private let state = Lock(State())

    init(_ provider: any AnimatedImageProvider, queue: WorkQueue = CodingQueue.shared) {
        self.provider = provider
        self.queue = queue
    }

    /// Frames that are in memory.
    var count: Int { state.withLock { $0.buffer.count } }
    /// Frames that were decoded so far.
    var decodedCount: Int { state.withLock { $0.decodedCount } }

    func contains(_ index: Int) -> Bool { state.withLock { $0.buffer.contains(index) } }

    /// A frame that is there.
    func use(_ index: Int) -> AnimationFrameBuffer<Image>.Lookup { state.withLock { $0.buffer.use(index) } }

    /// Says what a player needs next; what is not there is decoded, on the threads for decoding.
    ///
    /// - Parameter first: the frame 0, if the player has it already.
    func wish(_ player: UInt64, for indices: [Int], capacity: Int, first: Image? = nil) {
        let (dropped, starts) = state.withLock { state -> ([Image], Bool) in
            var dropped = state.buffer.wish(player, for: indices, capacity: capacity)
            if let first, !state.buffer.contains(0) { dropped += state.buffer.insert(first, at: 0) }
            guard !state.isFetching, state.buffer.next() != nil else { return (dropped, false) }
            state.isFetching = true
            return (dropped, true)
        }
        withExtendedLifetime(dropped) {}
        if starts { fetch() }
    }

    /// A player has gone.
    func forget(_ player: UInt64) {
        let dropped = state.withLock { $0.buffer.forget(player) }
        withExtendedLifetime(dropped) {}
    }

    /// Drops all frames, and what the decoder keeps between them.
    func removeAll() {
        let dropped = state.withLock { $0.buffer.removeAll() }
        withExtendedLifetime(dropped) {}
        // Not here: the decoder may be busy, and nobody must wait for it.
        queue.submit { [provider] in provider.releaseDecoder() }
    }

    // One job a frame, so that loads get their turn in between.
    private func fetch() {
        queue.submit(priority: .high) { [self] in
            let index = state.withLock { state -> Int? in
                let next = state.buffer.next()
                if next == nil { state.isFetching = false }
                return next
            }
            guard let index else { return }
            let frame = try? provider.frame(at: index)
            let dropped = state.withLock { state -> [Image] in
                state.decodedCount += 1
                return state.buffer.insert(frame, at: index)
            }
            withExtendedLifetime(dropped) {}
            fetch()
        }
    }
}
