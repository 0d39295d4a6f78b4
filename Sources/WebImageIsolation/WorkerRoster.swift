/// Which worker does what, without the workers: who is idle, who is started, who goes. Pure.
struct WorkerRoster: Sendable {
    struct Rules: Sendable, Equatable {
        /// Most workers at a time.
        var count: Int
        /// Tasks after which one is replaced.
        var uses: Int
        /// Nanoseconds after which one that is idle goes.
        var idleTime: UInt64
    }

    enum Decision: Equatable {
        /// An idle one, and whether it holds the animation that is asked for.
        case use(Int, holds: Bool)
        /// A new one, that has to be started.
        case start(Int)
        /// All are busy.
        case wait
    }

    private struct Worker {
        var isBusy = true
        var uses = 0
        /// When it was last given back.
        var idleSince: UInt64 = 0
        var animation: UInt64?
    }

    let rules: Rules
    private var workers: [Int: Worker] = [:]
    private var nextID = 1

    init(_ rules: Rules) {
        self.rules = Rules(count: max(rules.count, 1), uses: max(rules.uses, 1), idleTime: rules.idleTime)
    }

    /// Workers there are.
    var count: Int { workers.count }
    /// Those that do nothing.
    var idleCount: Int { workers.values.count { !$0.isBusy } }

    /// Somebody wants one. It is busy from then on.
    ///
    /// - Parameter animation: what it had best hold.
    mutating func take(animation: UInt64?) -> Decision {
        let idle = workers.filter { !$0.value.isBusy }
        if let animation, let holder = idle.first(where: { $0.value.animation == animation }) {
            workers[holder.key]?.isBusy = true
            return .use(holder.key, holds: true)
        }
        // One that holds nothing, and of those the one that was busy last: what it needs is warm.
        let best = idle.max { left, right in
            let (leftIsFree, rightIsFree) = (left.value.animation == nil, right.value.animation == nil)
            if leftIsFree != rightIsFree { return rightIsFree }
            return (left.value.idleSince, left.key) < (right.value.idleSince, right.key)
        }
        if let best, best.value.animation == nil || workers.count >= rules.count {
            workers[best.key]?.isBusy = true
            return .use(best.key, holds: false)
        }
        return workers.count < rules.count ? .start(add()) : .wait
    }

    /// Adds one that is started ahead of time, and is busy until it is given; nil when there is one for the next already.
    mutating func takeSpare() -> Int? { needsSpare ? add() : nil }

    /// Whether the next picture would have to wait for a start.
    var needsSpare: Bool { idleCount == 0 && workers.count < rules.count }

    private mutating func add() -> Int {
        defer { nextID += 1 }
        workers[nextID] = Worker()
        return nextID
    }

    /// One has done its task. Returns whether it stays.
    ///
    /// - Parameter isUse: false for one that was just started ahead of time.
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

    /// One has ended, or could not be started.
    mutating func lose(_ id: Int) { workers[id] = nil }

    /// Nobody will ask for frames of an animation any more.
    mutating func forget(animation: UInt64) {
        for (id, worker) in workers where worker.animation == animation { workers[id]?.animation = nil }
    }

    /// Takes out those that have been idle for long enough.
    mutating func expire(at now: UInt64) -> [Int] {
        let expired = workers.filter { !$0.value.isBusy && $0.value.idleSince + rules.idleTime <= now }.keys.sorted()
        for id in expired { workers[id] = nil }
        return expired
    }

    /// When there is something to take out; nil when all are busy or gone.
    var nextExpiry: UInt64? { workers.values.filter { !$0.isBusy }.map { $0.idleSince + rules.idleTime }.min() }
}
