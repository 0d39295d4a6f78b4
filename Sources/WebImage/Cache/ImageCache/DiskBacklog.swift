/// Who does work of the backlog.
enum DiskWorker {
    /// A thread of the cache, which does not encode.
    case disk
    /// A decode thread, which does not write: that may take long when the disk is busy.
    case coding
    /// The thread of a caller that waits for it, which does all there is.
    case caller
}

/// The work on disk entries that is under way or waits: a state machine without threads.
///
/// Work of one key is done in order, one at a time, and newer work replaces what still waits. So a key has at most one
/// running and one waiting piece of work, and what reads of the key must see is known at any time. Removing everything
/// (a clear) waits until what runs has finished, and holds back what comes after it.
struct DiskBacklog {
    typealias Completion = @Sendable () -> Void

    /// What a thread that has come for a key is to do.
    enum Next {
        /// This, and then finish it.
        case work(DiskWork)
        /// Leave it to another thread: one that encodes, or one that writes.
        case elsewhere(encodes: Bool)
        /// Nothing waits, or it must wait longer.
        case nothing
    }

    private enum Clear {
        case none
        case requested
        case running(again: Bool)
    }

    /// Keys count as different when their bytes are: they have different files then, while Swift takes strings that look
    /// the same for equal.
    private var slots: [MemoryCacheKey: DiskSlot] = [:]
    private var order: [(key: MemoryCacheKey, ticket: UInt64)] = []
    private var orderHead = 0
    private var nextTicket: UInt64 = 0
    private var runningCount = 0
    private var clear = Clear.none
    private var clearCompletions: [Completion] = []
    private var idleCompletions: [Completion] = []
    private var blocked: [Completion] = []

    /// Bytes held by work that waits.
    private(set) var waitingCost = 0
    /// Writes that were given up because too much waited.
    private(set) var droppedCount = 0

    /// Nothing runs and nothing waits.
    var isIdle: Bool { slots.isEmpty && !isClearing }

    private var isClearing: Bool { if case .none = clear { false } else { true } }

    // MARK: Work of a key

    /// Takes work for a key. When more than `costLimit` bytes wait then, the writes that have waited longest become
    /// removals, so that a reader finds nothing instead of what was there before (unless that is to be kept).
    ///
    /// - Parameter replacing: false when a write that runs or waits for the key is to be kept instead of this one.
    /// - Returns: whether the key has to be scheduled.
    mutating func submit(
        _ work: DiskWork,
        forKey key: String,
        replacing: Bool = true,
        costLimit: Int = .max,
        completion: Completion?
    ) -> Bool {
        let key = MemoryCacheKey(key)
        var slot = slots[key] ?? DiskSlot()
        let isNew = slot.waiting == nil
        let cost = slot.waiting?.cost ?? 0
        let outcome = slot.take(work, replacing: replacing, runningCounts: !isClearing)
        if let completion {
            if case .isCoveredByRunning = outcome {
                slot.runningCompletions.append(completion)
            } else {
                slot.waitingCompletions.append(completion)
            }
        }
        guard case .waits = outcome else {
            slots[key] = slot
            return false
        }
        put(slot, key, replacing: replacing, cost: cost, costLimit: costLimit)
        return isNew && slot.running == nil && !isClearing
    }

    /// Puts a slot back whose waiting work has changed, as the youngest; it cost `cost` before.
    private mutating func put(_ slot: DiskSlot, _ key: MemoryCacheKey, replacing: Bool, cost: Int, costLimit: Int) {
        let newCost = slot.waiting?.cost ?? 0
        waitingCost += newCost - cost
        nextTicket += 1
        slots[key] = slot
        slots[key]?.ticket = nextTicket
        guard newCost > 0 else { return }
        order.append((key, nextTicket))
        dropOldest(downTo: costLimit, keeping: nextTicket, replacing: replacing)
    }

    private mutating func dropOldest(downTo limit: Int, keeping ticket: UInt64, replacing: Bool) {
        while waitingCost > limit, orderHead < order.count {
            let oldest = order[orderHead]
            if oldest.ticket == ticket { break }
            orderHead += 1
            guard let slot = slots[oldest.key], slot.ticket == oldest.ticket, let work = slot.waiting else { continue }
            waitingCost -= work.cost
            droppedCount += 1
            if replacing, work.isWrite {
                slots[oldest.key]?.waiting = .remove
                slots[oldest.key]?.prelude = nil
            } else {
                slots[oldest.key]?.waiting = .nothing
            }
        }
        // Also what was replaced or has begun is in there until now.
        guard order.count > 64, order.count > 2 * slots.count || orderHead * 2 >= order.count else { return }
        order.removeFirst(orderHead)
        orderHead = 0
        order.removeAll { slots[$0.key]?.ticket != $0.ticket || slots[$0.key]?.waiting == nil }
    }

    /// Entries of the list by age; not many more than there are keys with work.
    var orderCount: Int { order.count }

    /// Starts what waits for a key, if it is for the kind of thread that asks.
    mutating func next(_ key: String, for worker: DiskWorker) -> Next {
        let key = MemoryCacheKey(key)
        guard !isClearing, var slot = slots[key], slot.running == nil, let waiting = slot.waiting else {
            return .nothing
        }
        let work = slot.prelude ?? waiting
        switch worker {
        case .disk where work.isEncoding: return .elsewhere(encodes: true)
        case .coding where !work.isEncoding: return .elsewhere(encodes: false)
        default: break
        }
        runningCount += 1
        slot.running = work
        if slot.prelude != nil {
            slot.prelude = nil
        } else {
            waitingCost -= work.cost
            slot.runningCompletions = slot.waitingCompletions
            slot.waiting = nil
            slot.waitingCompletions = []
        }
        slots[key] = slot
        if waitingCost == 0 {
            order.removeAll(keepingCapacity: order.count < 1024)
            orderHead = 0
        }
        return .work(work)
    }

    /// Ends what runs for a key, which was an image to be encoded: the bytes it gave (nil: none) wait in its place to be
    /// written, unless newer work waits already. The caller goes on as after ``finish(_:)``.
    mutating func finishEncoding(
        _ entry: CachedImageData?,
        forKey key: String,
        replacing: Bool = true,
        costLimit: Int = .max
    ) -> Ended {
        // What is about to be cleared need not be written.
        guard let entry, !isClearing, var old = slots[MemoryCacheKey(key)], old.running != nil else {
            return finish(key)
        }
        runningCount -= 1
        let cost = old.waiting?.cost ?? 0
        old.running = nil
        var slot = DiskSlot()
        for work in [.write(entry), old.prelude, old.waiting].compactMap({ $0 }) {
            _ = slot.take(work, replacing: replacing, runningCounts: false)
        }
        slot.waitingCompletions = old.runningCompletions + old.waitingCompletions
        put(slot, MemoryCacheKey(key), replacing: replacing, cost: cost, costLimit: costLimit)
        return Ended(schedulesKey: true)
    }

    /// What has to be done when something has ended.
    struct Ended {
        var completions: [Completion] = []
        var schedulesKey = false
        var schedulesClear = false
    }

    /// Ends what runs for a key. The caller calls the completions, and schedules what is to be scheduled.
    mutating func finish(_ key: String) -> Ended {
        let key = MemoryCacheKey(key)
        guard var slot = slots[key], slot.running != nil else { return Ended() }
        runningCount -= 1
        var completions = slot.runningCompletions
        slot.running = nil
        slot.runningCompletions = []
        let hasMore = slot.waiting != nil
        slots[key] = hasMore ? slot : nil
        if isIdle { completions += takeIdleCompletions() }
        return Ended(
            completions: completions,
            schedulesKey: hasMore && !isClearing,
            schedulesClear: runningCount == 0 && isClearRequested
        )
    }

    /// What a read of a key must see.
    ///
    /// - Parameter replacing: false when an entry that exists already wins over a write.
    func pending(_ key: String, replacing: Bool = true) -> PendingEntry {
        var pending = PendingEntry(hidesDisk: isClearing)
        guard let slot = slots[MemoryCacheKey(key)] else { return pending }
        if !isClearing, let running = slot.running { pending.apply(running, replacing: replacing) }
        for work in [slot.prelude, slot.waiting] {
            if let work { pending.apply(work, replacing: replacing) }
        }
        return pending
    }

    // MARK: Clearing

    /// In the order in which the work came, which is the order in which it goes on.
    private var slotsByAge: [(key: MemoryCacheKey, value: DiskSlot)] {
        slots.sorted { $0.value.ticket < $1.value.ticket }
    }

    private var isClearRequested: Bool { if case .requested = clear { true } else { false } }

    /// Asks for everything to be removed. What waits is given up; its completions are called after the clear.
    ///
    /// - Returns: whether the clear has to be scheduled now.
    mutating func requestClear(completion: Completion?) -> Bool {
        for (key, old) in slotsByAge where old.waiting != nil {
            var slot = old
            clearCompletions += slot.waitingCompletions
            slot.prelude = nil
            slot.waiting = nil
            slot.waitingCompletions = []
            slots[key] = slot.running == nil ? nil : slot
        }
        waitingCost = 0
        order = []
        orderHead = 0
        if let completion { clearCompletions.append(completion) }
        switch clear {
        case .none:
            clear = .requested
            return runningCount == 0
        case .requested:
            return false
        case .running:
            clear = .running(again: true)
            return false
        }
    }

    /// Starts the clear; false when there is none to start, or when it must wait for what runs.
    mutating func beginClear() -> Bool {
        guard isClearRequested, runningCount == 0 else { return false }
        clear = .running(again: false)
        return true
    }

    /// Ends the clear. The caller calls the completions, and schedules what is to be scheduled.
    mutating func finishClear() -> (completions: [Completion], keys: [String], schedulesClear: Bool) {
        guard case .running(let again) = clear else { return ([], [], false) }
        // Cleared again since: completions that came with that request can be called with this one only if nothing was
        // stored in between, so all wait for the second.
        guard !again else {
            clear = .requested
            return ([], [], true)
        }
        clear = .none
        var completions = clearCompletions
        clearCompletions = []
        if isIdle { completions += takeIdleCompletions() }
        return (completions, slotsByAge.map(\.key.string), false)
    }

    // MARK: Waiting for the end

    /// Calls `completion` when nothing runs and nothing waits; false when that is so now (then it is not kept).
    mutating func whenIdle(_ completion: @escaping Completion) -> Bool {
        guard !isIdle else { return false }
        idleCompletions.append(completion)
        return true
    }

    /// For a thread that waits for work of a key to be done: calls `body` when the work, or a clear before it, could perhaps be
    /// begun. False when that is so now (then it is not kept).
    mutating func whenFree(_ key: String, _ body: @escaping Completion) -> Bool {
        let slot = slots[MemoryCacheKey(key)]
        let canClear = isClearRequested && runningCount == 0
        let canBegin = !isClearing && slot?.waiting != nil && slot?.running == nil
        guard !canClear, !canBegin else { return false }
        blocked.append(body)
        return true
    }

    /// Who has to be told now that something has ended.
    mutating func takeBlocked() -> [Completion] {
        defer { blocked = [] }
        return blocked
    }

    private mutating func takeIdleCompletions() -> [Completion] {
        defer { idleCompletions = [] }
        return idleCompletions
    }
}
