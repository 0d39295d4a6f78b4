/// The turns of the pools that share a decoder: one frame, or a part of one, at a time, so that no thread waits for another's frame.
///
/// The most urgent pool is next, among equals the one that has waited longest; so players that are elsewhere in an animation, and
/// variants of it, get on equally.
final class AnimationLane: Sendable {
    private struct State {
        /// In the order in which they came.
        var waiting: [(pool: AnimationFramePool, priority: LoadPriority)] = []
        var job: WorkItem?
        var jobPriority = LoadPriority.low
        var isRunning = false
        /// Pools of which someone plays.
        var playingCount = 0
        /// What the decoder keeps between frames, in a budget.
        var charge: MemoryCharge?
    }

    /// Who decodes.
    let decoder: any AnimatedImageProvider
    private let queue: WorkQueue
    private let state = Lock(State())

    init(_ decoder: any AnimatedImageProvider, queue: WorkQueue) {
        self.decoder = decoder
        self.queue = queue
    }

    /// A pool has something to decode, or has become more urgent. It gets its turn, and more of them until it says that there is
    /// nothing left.
    func request(_ pool: AnimationFramePool, _ priority: LoadPriority) {
        state.withLock { state in
            add(pool, priority, &state)
            submit(&state)
        }
    }

    /// A pool begins to play, or has ended.
    func setPlaying(_ isPlaying: Bool) {
        state.withLock { $0.playingCount += isPlaying ? 1 : -1 }
        guard let gradual = decoder as? any GradualAnimation else { return }
        if isPlaying { gradual.beginPlaying() } else { gradual.endPlaying() }
    }

    /// Lets go of what the decoder keeps, as far as no player needs it for its next frame.
    ///
    /// - Parameter isUnused: asked when the decoder's turn has come; if it says no, nothing happens.
    func releaseDecoder(if isUnused: @escaping @Sendable () -> Bool = { true }) {
        // Not here: the decoder may be busy, and nobody must wait for it.
        queue.submit(priority: .high) { [self] in
            let isPlaying = state.withLock { $0.playingCount > 0 }
            // Others than those of this library may let go of everything.
            guard isUnused(), !isPlaying || decoder is any GradualAnimation else { return }
            decoder.releaseDecoder()
            // While somebody plays, what the next frame is made of stays.
            let charge = state.withLock { $0.playingCount > 0 ? nil : $0.charge.take() }
            withExtendedLifetime(charge) {}
        }
    }

    /// Whether what the decoder keeps counts in a budget.
    var isCharged: Bool { state.withLock { $0.charge != nil } }

    /// Counts what the decoder keeps, as a part of what is reserved for a frame, unless it counts already. Called in a pool's turn.
    func charge(_ byteCount: Int, of reservation: MemoryReservation) {
        guard byteCount > 0, !isCharged, let charge = reservation.charge(byteCount) else { return }
        state.withLock { $0.charge = charge }
    }

    private func add(_ pool: AnimationFramePool, _ priority: LoadPriority, _ state: inout State) {
        guard let place = state.waiting.firstIndex(where: { $0.pool === pool }) else {
            return state.waiting.append((pool, priority))
        }
        state.waiting[place].priority = max(state.waiting[place].priority, priority)
    }

    private func submit(_ state: inout State) {
        guard !state.isRunning, let priority = state.waiting.map(\.priority).max() else { return }
        if let job = state.job {
            if priority != state.jobPriority { job.setPriority(priority) }
        } else {
            state.job = queue.submit(priority: priority) { [self] in run() }
        }
        state.jobPriority = priority
    }

    private func run() {
        let pool = state.withLock { state -> AnimationFramePool? in
            state.job = nil
            guard let priority = state.waiting.map(\.priority).max(),
                let place = state.waiting.firstIndex(where: { $0.priority == priority })
            else { return nil }
            state.isRunning = true
            return state.waiting.remove(at: place).pool
        }
        guard let pool else { return }
        let priority = pool.decodeNext()
        state.withLock { state in
            state.isRunning = false
            if let priority { add(pool, priority, &state) }
            // One job a turn, so that other animations get theirs in between.
            submit(&state)
        }
    }
}
