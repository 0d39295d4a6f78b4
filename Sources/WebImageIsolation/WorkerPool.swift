import FoundationEssentials

/// Workers of one kind, as many as are needed at a time and no more than are allowed.
///
/// Whoever wants one and finds all busy waits, so never call it on a thread of Swift's cooperative pool.
final class WorkerPool: Sendable {
    private struct State {
        var roster: WorkerRoster
        /// Those that are idle.
        var processes: [Int: WorkerProcess] = [:]
        /// Whether somebody will look for those that have been idle for long.
        var isWatched = false
    }

    /// Threads that wait for a worker and for its answers: as many as there are workers at most, so that no thread of
    /// ``CodingQueue`` is held by a decoder that hangs, and the most urgent picture of the pool is next.
    let queue: WorkQueue
    /// The same for frames of animations, which do not wait for loads.
    let frames: WorkQueue
    private let isolation: DecodeIsolation
    private let kind: WorkerKind
    private let clock: ClockSource
    private let delay: DelaySource
    private let state: ConditionLock<State>
    /// Ends and starts workers that nobody waits for.
    private static let upkeep = WorkQueue(name: "webimage-workers", width: 1)

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
        let rules = WorkerRoster.Rules(
            count: count,
            uses: isolation.maximumDecodeCount,
            idleTime: UInt64(idle * 1e9)
        )
        state = ConditionLock(State(roster: WorkerRoster(rules)))
    }

    /// Workers there are, and those of them that do nothing.
    var counts: (all: Int, idle: Int) { state.withLock { ($0.roster.count, $0.roster.idleCount) } }

    /// What the next idle worker said of itself; nil when there is none.
    var walls: WorkerWalls? { state.withLock { $0.processes.values.first?.walls } }

    /// Has a worker do it.
    ///
    /// - Parameters:
    ///   - data: the encoded bytes; a worker that holds the animation is not given them again.
    ///   - seconds: the most that it may take, once a worker has begun.
    /// - Throws: ``WebImageError`` of how the worker failed. What the decoder says of the picture is an answer.
    func perform(
        _ task: IsolationTask,
        _ data: Data,
        seconds: Double
    ) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        let isFrame = if case .frame = task { true } else { false }
        var (id, worker, holds) = try take(isFrame ? task.animation : nil)
        while true {
            let isFresh = worker.isFresh
            let answer: (IsolationAnswer, PixelStorage?)
            do throws(WorkerFailure) {
                answer = try worker.perform(task, holds ? nil : data, seconds: seconds)
            } catch {
                worker.stop()
                // A worker that has seen other pictures may have been spoiled by one of them: a new one tells whose fault it is.
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
                // What it keeps of others may be what is missing.
                worker.stop()
                (worker, holds) = (try start(for: id), false)
                continue
            }
            // What could not be opened is not held.
            give(id, worker, animation: refusal == nil ? task.animation : nil)
            return answer
        }
    }

    /// Starts a worker for a place that is taken.
    private func start(for id: Int) throws(WebImageError) -> WorkerProcess {
        do throws(WebImageError) { return try start() } catch {
            lose(id)
            throw error
        }
    }

    /// Starts a worker for the next task, if there is none.
    func prepare() {
        guard state.withLock({ $0.roster.needsSpare }) else { return }
        Self.upkeep.submit(priority: .low) { [self] in
            // Not before: whoever has a picture would wait for a place that nobody fills yet.
            guard let id = state.withLock({ $0.roster.takeSpare() }) else { return }
            guard let worker = try? start() else { return lose(id) }
            keep(id, worker, animation: nil, isUse: false)
        }
    }

    /// Frames of an animation will not be asked for any more: its worker is as good as any other.
    func forget(animation: UInt64) { state.withLock { $0.roster.forget(animation: animation) } }

    /// Ends those that have been idle for long enough.
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

    /// The threads of a pool that has nothing to do go with it; who comes later makes another one.
    private func retireIfUnused() {
        if counts.all == 0, queue.waitingCount + frames.waitingCount == 0 { WorkerPools.remove(self) }
    }

    private func start() throws(WebImageError) -> WorkerProcess {
        let program = try WorkerProgram.find(isolation.workerPath)
        return try WorkerProcess(
            program,
            kind,
            memory: max(isolation.maximumMemoryByteCount, 1 << 20),
            decodes: max(isolation.maximumDecodeCount, 1)
        )
    }

    private func take(_ animation: UInt64?) throws(WebImageError) -> (id: Int, worker: WorkerProcess, holds: Bool) {
        while true {
            let (decision, worker) = state.wait { state -> (WorkerRoster.Decision, WorkerProcess?)? in
                let decision = state.roster.take(animation: animation)
                switch decision {
                case .use(let id, _): return (decision, state.processes.removeValue(forKey: id))
                case .start: return (decision, nil)
                case .wait: return nil
                }
            }
            switch decision {
            case .use(let id, let holds):
                if let worker, worker.isReady { return (id, worker, holds) }
                // It died while it had nothing to do, which is not the fault of what comes now.
                worker?.stop()
                lose(id)
            case .start(let id):
                return (id, try start(for: id), false)
            case .wait: break
            }
        }
    }

    private func give(_ id: Int, _ worker: WorkerProcess, animation: UInt64?) {
        guard !keep(id, worker, animation: animation, isUse: true) else { return }
        // The next picture finds a new one.
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

    /// Sees to it that idle workers go in time.
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

/// The pools of this process.
package enum WorkerPools {
    private struct Key: Hashable {
        let isolation: DecodeIsolation
        let kind: WorkerKind
    }

    private static let pools = Lock<[Key: WorkerPool]>([:])

    /// Decodes that wait for a worker, of all pools.
    package static var waitingCount: Int { pools.withLock { $0.values.reduce(0) { $0 + $1.queue.waitingCount } } }

    /// Pools that there are.
    static var count: Int { pools.withLock { $0.count } }

    /// A pool has no workers any more.
    static func remove(_ pool: WorkerPool) {
        // It is released outside the lock.
        let removed = pools.withLock { pools -> WorkerPool? in
            pools.first { $0.value === pool }.flatMap { pools.removeValue(forKey: $0.key) }
        }
        withExtendedLifetime(removed) {}
    }

    /// The pool of workers that such decodes share.
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
    /// Starts a worker, so that the first picture need not wait for it: that takes some hundredths of a second. Returns at once. Where there
    /// is no worker program, nothing happens, and the first picture tells.
    public func prepare() {
        let kinds: [WorkerKind] = formats == [.svg] ? [.fonts] : [.sealed]
        for kind in kinds { WorkerPools.pool(self, kind).prepare() }
    }
}
