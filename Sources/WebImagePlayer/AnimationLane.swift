/// Schedules the pools that share a decoder: one frame, or a part of one, at a time, so that no thread waits for another's frame.
///
/// The most urgent pool is next; among equals, the one that has waited longest. So players at different positions of an animation,
/// and its variants, progress equally.
final class AnimationLane: Sendable {
    private struct State {
        /// The waiting pools, in the order of their requests.
        var waiting: [(pool: AnimationFramePool, priority: LoadPriority)] = []
        var job: WorkItem?
        var jobPriority = LoadPriority.low
        var isRunning = false
        /// The number of pools with a playing player.
        var playingCount = 0
        /// The budget charge for the decoder's buffers between frames.
        var charge: MemoryCharge?
    }

    /// The shared decoder.
    let decoder: any AnimatedImageProvider
    private let queue: WorkQueue
    private let state = Lock(State())

    init(_ decoder: any AnimatedImageProvider, queue: WorkQueue) {
        self.decoder = decoder
        self.queue = queue
    }

    /// Adds a pool that has something to decode, or raises its priority. The pool gets turns until it has nothing left to do.
    func request(_ pool: AnimationFramePool, _ priority: LoadPriority) {
        state.withLock { state in
            add(pool, priority, &state)
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

    /// Charges the decoder's buffers to the reservation of a frame, unless they are charged already. Called in a pool's turn.
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
            // One job per turn, so that other animations get theirs in between.
            submit(&state)
        }
    }
}
