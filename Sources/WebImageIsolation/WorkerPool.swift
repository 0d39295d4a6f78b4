import FoundationEssentials

/// The workers of one kind, started on demand up to a maximum number.
///
/// Its `perform` blocks the calling thread, so it must not be called on a thread of Swift's cooperative pool.
final class WorkerPool: Sendable {
    private struct State {
        var roster: WorkerAssignment
        /// The idle workers.
        var processes: [Int: WorkerProcess] = [:]
        /// Indicates whether a check for expired idle workers is scheduled.
        var isWatched = false
    }

    /// The threads that wait for a worker and for its answers: as many as the maximum number of workers, so that a decoder that
    /// hangs does not occupy a thread of ``CodingQueue``, and the image with the highest priority in the pool is next.
    let queue: WorkQueue
    /// The same for frames of animations, which do not wait for loads.
    let frames: WorkQueue
    private let isolation: DecodeIsolation
    private let kind: WorkerKind
    private let clock: ClockSource
    private let delay: DelaySource
    private let state: ConditionLock<State>
    /// The seconds for which an image waits for a busy worker before another one is started for it. A start takes as long as the decodes of
    /// a screen of thumbnails.
    static let patience = 0.02
    /// Stops and starts workers in the background.
    static let upkeep = WorkQueue(name: "webimage-workers", width: 1)

    init(
        _ isolation: DecodeIsolation,
        _ kind: WorkerKind,
        clock: ClockSource = .system,
        delay: DelaySource = .system
    ) {
        (self.isolation, self.kind, self.clock, self.delay) = (isolation, kind, clock, delay)
        let idle = isolation.idleTime.isFinite ? min(max(isolation.idleTime, 0), 1e9) : 1e9
        let count = isolation.maximumWorkerCount > 0 ? isolation.maximumWorkerCount : CodingQueue.processorCount
        queue = WorkQueue(name: "webimage-await", width: count)
        frames = WorkQueue(name: "webimage-awaitf", width: count)
        let rules = WorkerAssignment.Rules(
            count: count,
            uses: isolation.maximumDecodeCount,
            idleTime: UInt64(idle * 1e9)
        )
        state = ConditionLock(State(roster: WorkerAssignment(rules)))
    }

    /// The number of workers, and of those that are idle.
    var counts: (all: Int, idle: Int) { state.withLock { ($0.roster.count, $0.roster.idleCount) } }

    /// The sandbox report of any idle worker; nil if none is idle.
    var walls: WorkerSandbox? { state.withLock { $0.processes.values.first?.walls } }

    /// Performs a task in a worker.
    ///
    /// - Parameters:
    ///   - input: the encoded bytes; not sent to a worker that already holds the animation.
    ///   - seconds: the time limit, once a worker has begun.
    /// - Throws: ``WebImageError`` for a failure of the worker. An error that the decoder reports about the image is returned as an
    ///   answer.
    func perform(
        _ task: IsolationTask,
        _ input: WorkerInput,
        seconds: Double
    ) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        let isFrame = if case .frame = task { true } else { false }
        var (id, worker, holds) = try take(isFrame ? task.animation : nil)
        while true {
            let isFresh = worker.isFresh
            let answer: (IsolationAnswer, PixelStorage?)
            do throws(WorkerFailure) {
                answer = try worker.perform(task, holds ? nil : input, seconds: seconds)
            } catch {
                worker.stop()
                // A worker that has decoded other images may have been compromised by one of them: a retry in a new worker shows
                // whether this image is at fault.
                guard !isFresh, !error.isTimeout else {
                    lose(id)
                    throw error.error(seconds: seconds)
                }
                (worker, holds) = (try start(for: id), false)
                continue
            }
            var refusal: WebImageError?
            if case .failure(let error) = answer.0 { refusal = error }
            if refusal?.code == .outOfMemory, !isFresh {
                // The worker may keep the missing memory for others.
                worker.stop()
                (worker, holds) = (try start(for: id), false)
                continue
            }
            // An animation that could not be opened is not held.
            give(id, worker, animation: refusal == nil ? task.animation : nil)
            return answer
        }
    }

    /// Starts a worker for a reserved slot.
    private func start(for id: Int) throws(WebImageError) -> WorkerProcess {
        do throws(WebImageError) { return try start() } catch {
            lose(id)
            throw error
        }
    }

    /// Starts a worker for the next task, if none is idle.
    func prepare() {
        guard state.withLock({ $0.roster.needsSpare }) else { return }
        Self.upkeep.submit(priority: .low) { [self] in
            // Not before this job runs: a task could wait for the slot while no worker is being started.
            guard let id = state.withLock({ $0.roster.takeSpare() }) else { return }
            guard let worker = try? start() else { return lose(id) }
            keep(id, worker, animation: nil, isUse: false)
        }
    }

    /// Reports that no more frames of an animation will be requested: its worker can serve any image.
    func forget(animation: UInt64) { state.withLock { $0.roster.forget(animation: animation) } }

    /// Stops workers that have been idle for the maximum time.
    func expire() {
        let now = clock.monotonicNanoseconds()
        let expired = state.withLock { state -> [WorkerProcess] in
            state.isWatched = false
            return state.roster.expire(at: now).compactMap { state.processes.removeValue(forKey: $0) }
        }
        for worker in expired { worker.stop() }
        retireIfUnused()
        watch()
    }

    /// Removes an idle pool with its threads; a later request creates another one.
    private func retireIfUnused() {
        if counts.all == 0, queue.waitingCount + frames.waitingCount == 0 { WorkerPools.remove(self) }
    }

    /// Starts a worker that is not one of the pool.
    func start() throws(WebImageError) -> WorkerProcess {
        let program = try WorkerProgram.find(isolation, kind)
        return try WorkerProcess(
            program,
            kind,
            memory: max(isolation.maximumMemoryByteCount, 1 << 20),
            decodes: max(isolation.maximumDecodeCount, 1)
        )
    }

    private func take(_ animation: UInt64?) throws(WebImageError) -> (id: Int, worker: WorkerProcess, holds: Bool) {
        while true {
            let (decision, worker) = assign(animation)
            switch decision {
            case .use(let id, let holds):
                if let worker, worker.isReady { return (id, worker, holds) }
                // It died while it was idle, which is not the fault of the next image.
                worker?.stop()
                lose(id)
            case .start(let id):
                return (id, try start(for: id), false)
            case .wait: break
            }
        }
    }

    /// Waits until a worker is idle, or another one may be started.
    private func assign(_ animation: UInt64?) -> (WorkerAssignment.Decision, WorkerProcess?) {
        func decide(_ state: inout State, isPatient: Bool) -> (WorkerAssignment.Decision, WorkerProcess?)? {
            let decision = state.roster.take(animation: animation, isPatient: isPatient)
            switch decision {
            case .use(let id, _): return (decision, state.processes.removeValue(forKey: id))
            case .start: return (decision, nil)
            case .wait: return nil
            }
        }
        // Frames do not wait for images.
        if animation == nil,
            let soon = state.wait(seconds: Self.patience, until: { decide(&$0, isPatient: true) })
        {
            return soon
        }
        return state.wait { decide(&$0, isPatient: false) }
    }

    private func give(_ id: Int, _ worker: WorkerProcess, animation: UInt64?) {
        guard !keep(id, worker, animation: animation, isUse: true) else { return }
        // The next image gets a new one.
        Self.upkeep.submit(priority: .low) { worker.stop() }
        prepare()
    }

    @discardableResult
    private func keep(_ id: Int, _ worker: WorkerProcess, animation: UInt64?, isUse: Bool) -> Bool {
        let now = clock.monotonicNanoseconds()
        let isKept = state.withLock { state -> Bool in
            guard state.roster.give(id, animation: animation, at: now, isUse: isUse) else { return false }
            state.processes[id] = worker
            return true
        }
        state.signal()
        if isKept { watch() }
        return isKept
    }

    private func lose(_ id: Int) {
        state.withLock { $0.roster.lose(id) }
        state.signal()
        retireIfUnused()
    }

    /// Schedules the check for expired idle workers.
    private func watch() {
        let now = clock.monotonicNanoseconds()
        let wait = state.withLock { state -> UInt64? in
            guard !state.isWatched, let next = state.roster.nextExpiry else { return nil }
            state.isWatched = true
            return next > now ? next - now : 0
        }
        guard let wait else { return }
        _ = delay.after(wait) { [weak self] in self?.expireSoon() }
    }

    private func expireSoon() { Self.upkeep.submit(priority: .low) { self.expire() } }
}

/// The worker pools of this process.
package enum WorkerPools {
    private struct Key: Hashable {
        let isolation: DecodeIsolation
        let kind: WorkerKind
    }

    private static let pools = Lock<[Key: WorkerPool]>([:])

    /// The number of decodes that wait for a worker, in all pools, without frames of animations.
    package static var waitingCount: Int { pools.withLock { $0.values.reduce(0) { $0 + $1.queue.waitingCount } } }

    /// The number of pools.
    static var count: Int { pools.withLock { $0.count } }

    /// Removes a pool that has no workers any more.
    static func remove(_ pool: WorkerPool) {
        // It is released outside the lock.
        let removed = pools.withLock { pools -> WorkerPool? in
            pools.first { $0.value === pool }.flatMap { pools.removeValue(forKey: $0.key) }
        }
        withExtendedLifetime(removed) {}
    }

    /// Returns the pool of workers that such decodes share.
    static func pool(_ isolation: DecodeIsolation, _ kind: WorkerKind) -> WorkerPool {
        var shared = isolation
        (shared.formats, shared.maximumDecodeDuration) = (nil, 0)
        let key = Key(isolation: shared, kind: kind)
        return pools.withLock { pools in
            if let pool = pools[key] { return pool }
            let pool = WorkerPool(shared, kind)
            pools[key] = pool
            return pool
        }
    }
}

extension DecodeIsolation {
    /// Starts a worker in advance, so that the first image does not wait for the start, which takes some hundredths of a second.
    /// Returns at once. Without a worker program it does nothing, and the first decode reports the error.
    public func prepare() {
        let kind: WorkerKind =
            switch formats {
            case [.svg]: .fonts
            case [.raw]: .raw
            case [.pdf]: .pdf
            case let formats? where !formats.isEmpty && formats.isSubset(of: ImageFormat.videos): .video
            default: .sealed
            }
        WorkerPools.pool(self, kind).prepare()
    }
}
