/// The assignment of tasks to workers, without the processes: it decides which one is used, started or removed. Pure.
struct WorkerAssignment: Sendable {
    struct Rules: Sendable, Equatable {
        /// The maximum number of workers.
        var count: Int
        /// The number of tasks after which a worker is replaced.
        var uses: Int
        /// The time in nanoseconds after which an idle worker is removed.
        var idleTime: UInt64
    }

    enum Decision: Equatable {
        /// Use an idle worker; `holds` is whether it holds the requested animation.
        case use(Int, holds: Bool)
        /// Start a new worker.
        case start(Int)
        /// All are busy.
        case wait
    }

    private struct Worker {
        var isBusy = true
        var uses = 0
        /// The time at which it was last given back.
        var idleSince: UInt64 = 0
        var animation: UInt64?
    }

    let rules: Rules
    private var workers: [Int: Worker] = [:]
    private var nextID = 1

    init(_ rules: Rules) {
        self.rules = Rules(count: max(rules.count, 1), uses: max(rules.uses, 1), idleTime: rules.idleTime)
    }

    /// The number of workers.
    var count: Int { workers.count }
    /// The number of idle workers.
    var idleCount: Int { workers.values.count { !$0.isBusy } }

    /// Assigns a worker, which is busy from then on.
    ///
    /// - Parameters:
    ///   - animation: the animation that it should hold, if possible.
    ///   - isPatient: true to wait for a busy worker, if there is one, rather than to start another.
    mutating func take(animation: UInt64?, isPatient: Bool = false) -> Decision {
        let idle = workers.filter { !$0.value.isBusy }
        if let animation, let holder = idle.first(where: { $0.value.animation == animation }) {
            workers[holder.key]?.isBusy = true
            return .use(holder.key, holds: true)
        }
        // Prefers a worker that holds no animation, and among those the one that was busy last, because its caches are warm.
        let best = idle.max { left, right in
            let (leftIsFree, rightIsFree) = (left.value.animation == nil, right.value.animation == nil)
            if leftIsFree != rightIsFree { return rightIsFree }
            return (left.value.idleSince, left.key) < (right.value.idleSince, right.key)
        }
        if let best, best.value.animation == nil || workers.count >= rules.count {
            workers[best.key]?.isBusy = true
            return .use(best.key, holds: false)
        }
        let waits = isPatient && idle.count < workers.count
        return workers.count < rules.count && !waits ? .start(add()) : .wait
    }

    /// Adds a worker that is started in advance, and is busy until it is given; nil if one is already available for the next task.
    mutating func takeSpare() -> Int? { needsSpare ? add() : nil }

    /// Indicates whether the next image would have to wait for a start.
    var needsSpare: Bool { idleCount == 0 && workers.count < rules.count }

    private mutating func add() -> Int {
        defer { nextID += 1 }
        workers[nextID] = Worker()
        return nextID
    }

    /// Returns a worker after its task. The result is whether it is kept.
    ///
    /// - Parameter isUse: false for one that was just started in advance.
    mutating func give(_ id: Int, animation: UInt64?, at now: UInt64, isUse: Bool = true) -> Bool {
        guard var worker = workers[id] else { return false }
        if isUse { worker.uses += 1 }
        guard worker.uses < rules.uses else {
            workers[id] = nil
            return false
        }
        (worker.isBusy, worker.idleSince, worker.animation) = (false, now, animation)
        workers[id] = worker
        return true
    }

    /// Removes a worker that has ended, or could not be started.
    mutating func lose(_ id: Int) { workers[id] = nil }

    /// Reports that no more frames of an animation will be requested.
    mutating func forget(animation: UInt64) {
        for (id, worker) in workers where worker.animation == animation { workers[id]?.animation = nil }
    }

    /// Removes and returns the workers that have been idle for the maximum time.
    mutating func expire(at now: UInt64) -> [Int] {
        let expired = workers.filter { !$0.value.isBusy && $0.value.idleSince + rules.idleTime <= now }.keys.sorted()
        for id in expired { workers[id] = nil }
        return expired
    }

    /// The time of the next removal; nil if all are busy or gone.
    var nextExpiry: UInt64? { workers.values.filter { !$0.isBusy }.map { $0.idleSince + rules.idleTime }.min() }
}
