/// Schedules the pools that share a decoder: one frame, or a part of one, at a time, so that no thread waits for another's frame.
///
/// The most urgent pool is next; among equals, the one that has waited longest. So players at different positions of an animation,
/// and its variants, progress equally.
final class AnimationLane: Sendable {
    private struct State {
        var waiting = JobHeap<AnimationFramePool>()
        /// The numbers of the waiting pools in the heap.
        var places: [ObjectIdentifier: UInt64] = [:]
        var job: WorkItem?
        /// The pool whose turn it is.
        var running: AnimationFramePool?
        /// The number of pools with a playing player.
        var playingCount = 0
        /// The budget charge for the decoder's buffers between frames.
        var charge: MemoryCharge?
    }

    /// The shared decoder.
    let decoder: any AnimatedImageProvider
    let queue: WorkQueue
    private let state = Lock(State())

    init(_ decoder: any AnimatedImageProvider, queue: WorkQueue) {
        self.decoder = decoder
        self.queue = queue
    }

    /// Adds a pool that has something to decode, or raises its priority. The pool gets turns until it has nothing left to do.
    func request(_ pool: AnimationFramePool, _ priority: LoadPriority) {
        let running = state.withLock { state in
            add(pool, priority, &state)
            submit(&state)
            return state.running
        }
        // Others wait for it.
        running?.raisePriority(to: priority)
    }

    /// Ends the turn of a pool.
    ///
    /// - Parameter priority: The priority of its next turn; nil if it has nothing left to do.
    func endTurn(of pool: AnimationFramePool, next priority: LoadPriority?) {
        state.withLock { state in
            state.running = nil
            if let priority { add(pool, priority, &state) }
            // One job per turn, so that other animations get theirs in between.
            submit(&state)
        }
    }

    /// Counts a pool that starts or stops playing.
    func setPlaying(_ isPlaying: Bool) {
        state.withLock { $0.playingCount += isPlaying ? 1 : -1 }
        guard let gradual = decoder as? any StepwiseAnimation else { return }
        if isPlaying { gradual.beginPlaying() } else { gradual.endPlaying() }
    }

    /// Releases the decoder's buffers, as far as no player needs them for its next frame.
    ///
    /// - Parameter isUnused: Called when the decoder's turn has come; if it returns false, nothing happens.
    func releaseDecoder(if isUnused: @escaping @Sendable () -> Bool = { true }) {
        // Asynchronous: the decoder may be busy, and the caller must not block on it.
        queue.submit(priority: .high) { [self] in
            let isPlaying = state.withLock { $0.playingCount > 0 }
            // Other implementations than this library's may release everything.
            guard isUnused(), !isPlaying || decoder is any StepwiseAnimation else { return }
            decoder.releaseDecoder()
            // While a player plays, the buffers for its next frame stay.
            let charge = state.withLock { $0.playingCount > 0 ? nil : $0.charge.take() }
            withExtendedLifetime(charge) {}
        }
    }

    /// True if the decoder's buffers are charged to a budget.
    var isCharged: Bool { state.withLock { $0.charge != nil } }

    /// Charges the decoder's buffers to the job of a frame, unless they are charged already. Called in a pool's turn.
    func charge(_ byteCount: Int, to budget: DecodedMemoryBudget) {
        guard byteCount > 0, !isCharged, let charge = budget.chargeOfJob(byteCount) else { return }
        state.withLock { $0.charge = charge }
    }

    private func add(_ pool: AnimationFramePool, _ priority: LoadPriority, _ state: inout State) {
        let key = ObjectIdentifier(pool)
        if let place = state.places[key], let former = state.waiting.priority(of: place) {
            state.waiting.setPriority(max(former, priority), of: place)
        } else {
            state.places[key] = state.waiting.insert(pool, priority: priority)
        }
    }

    private func submit(_ state: inout State) {
        guard state.running == nil, let priority = state.waiting.first?.priority else { return }
        if let job = state.job {
            job.setPriority(priority)
        } else {
            state.job = queue.submit(priority: priority) { [self] in run() }
        }
    }

    private func run() {
        let pool = state.withLock { state -> AnimationFramePool? in
            state.job = nil
            guard let pool = state.waiting.popFirst() else { return nil }
            state.places[ObjectIdentifier(pool)] = nil
            state.running = pool
            return pool
        }
        pool?.beginTurn()
    }
}
