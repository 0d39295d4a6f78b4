/// The work on disk entries that is under way or waits: a state machine without threads.
///
/// Work of one key is done in order, one at a time, and newer work replaces what still waits. So a key has at most one
/// running and one waiting piece of work, and what reads of the key must see is known at any time. Removing everything
/// (a clear) waits until what runs has finished, and holds back what comes after it.
struct DiskBacklog {
    typealias Completion = @Sendable () -> Void

    /// What a read of a key must see.
    enum Pending {
        /// Nothing waits: what is on disk.
        case nothing
        /// The entry is about to be removed.
        case absent
        /// The entry is about to be this.
        case entry(CachedImageData)
        /// The entry is about to be this, encoded.
        case image(PendingImage)
    }

    private struct Slot {
        var running: DiskWork?
        var runningCompletions: [Completion] = []
        var waiting: DiskWork?
        var waitingCompletions: [Completion] = []
        /// Tells which entry of `order` is this waiting work's.
        var ticket: UInt64 = 0
    }

    private enum Clear {
        case none
        case requested
        case running(again: Bool)
    }

    /// Keys count as different when their bytes are: they have different files then, while Swift takes strings that look
    /// the same for equal.
    private var slots: [MemoryCacheKey: Slot] = [:]
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
        var slot = slots[key] ?? Slot()
        let isKept = !replacing && work.isWrite && (slot.waiting ?? slot.running)?.isWrite ?? false
        if isKept {
            if let completion {
                if slot.waiting != nil {
                    slot.waitingCompletions.append(completion)
                } else {
                    slot.runningCompletions.append(completion)
                }
            }
            slots[key] = slot
            return false
        }
        let isNew = slot.waiting == nil
        waitingCost += work.cost - (slot.waiting?.cost ?? 0)
        nextTicket += 1
        slot.waiting = work
        slot.ticket = nextTicket
        if let completion { slot.waitingCompletions.append(completion) }
        slots[key] = slot
        if work.cost > 0 {
            order.append((key, nextTicket))
            dropOldest(downTo: costLimit, keeping: nextTicket, replacing: replacing)
        }
        return isNew && slot.running == nil && !isClearing
    }

    private mutating func dropOldest(downTo limit: Int, keeping ticket: UInt64, replacing: Bool) {
        while waitingCost > limit, orderHead < order.count {
            let oldest = order[orderHead]
            if oldest.ticket == ticket { break }
            orderHead += 1
            guard let slot = slots[oldest.key], slot.ticket == oldest.ticket, let work = slot.waiting else { continue }
            waitingCost -= work.cost
            droppedCount += 1
            slots[oldest.key]?.waiting = replacing ? .remove : .nothing
        }
        // Also what was replaced or has begun is in there until now.
        guard order.count > 64, order.count > 2 * slots.count || orderHead * 2 >= order.count else { return }
        order.removeFirst(orderHead)
        orderHead = 0
        order.removeAll { slots[$0.key]?.ticket != $0.ticket || slots[$0.key]?.waiting == nil }
    }

    /// Entries of the list by age; not many more than there are keys with work.
    var orderCount: Int { order.count }

    /// Starts what waits for a key; nil when nothing does, or when it must wait longer.
    mutating func begin(_ key: String) -> DiskWork? {
        let key = MemoryCacheKey(key)
        guard !isClearing, var slot = slots[key], slot.running == nil, let work = slot.waiting else { return nil }
        waitingCost -= work.cost
        runningCount += 1
        slot.running = work
        slot.runningCompletions = slot.waitingCompletions
        slot.waiting = nil
        slot.waitingCompletions = []
        slots[key] = slot
        if waitingCost == 0 {
            order.removeAll(keepingCapacity: order.count < 1024)
            orderHead = 0
        }
        return work
    }

    /// Exchanges what runs for a key: an image that was encoded for its bytes.
    mutating func update(_ work: DiskWork, forKey key: String) {
        let key = MemoryCacheKey(key)
        guard slots[key]?.running != nil else { return }
        slots[key]?.running = work
    }

    /// Ends what runs for a key. The caller calls the completions, and schedules what is to be scheduled.
    mutating func finish(_ key: String) -> (completions: [Completion], schedulesKey: Bool, schedulesClear: Bool) {
        let key = MemoryCacheKey(key)
        guard var slot = slots[key], slot.running != nil else { return ([], false, false) }
        runningCount -= 1
        var completions = slot.runningCompletions
        slot.running = nil
        slot.runningCompletions = []
        let hasMore = slot.waiting != nil
        slots[key] = hasMore ? slot : nil
        if isIdle { completions += takeIdleCompletions() }
        return (completions, hasMore && !isClearing, runningCount == 0 && isClearRequested)
    }

    /// What a read of a key must see.
    func pending(_ key: String) -> Pending {
        let slot = slots[MemoryCacheKey(key)]
        guard let work = slot?.waiting ?? (isClearing ? .remove : slot?.running) else { return .nothing }
        switch work {
        case .write(let entry): return .entry(entry)
        case .encode(let image): return .image(image)
        case .remove: return .absent
        case .nothing: return .nothing
        }
    }

    // MARK: Clearing

    private var isClearRequested: Bool { if case .requested = clear { true } else { false } }

    /// Asks for everything to be removed. What waits is given up; its completions are called after the clear.
    ///
    /// - Returns: whether the clear has to be scheduled now.
    mutating func requestClear(completion: Completion?) -> Bool {
        for key in Array(slots.keys) {
            guard var slot = slots[key], slot.waiting != nil else { continue }
            clearCompletions += slot.waitingCompletions
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
        return (completions, slots.keys.map(\.string), false)
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
