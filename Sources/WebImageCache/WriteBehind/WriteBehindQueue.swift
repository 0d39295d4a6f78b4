/// A thread that takes work from the queue.
package enum DiskWorker {
    /// A thread of the cache, which does not encode.
    case disk
    /// A decode thread, which does not write: that may take long when the disk is busy.
    case coding
    /// The thread of a caller that waits for it, which does all there is.
    case caller
}

/// Write-behind: the work on disk entries that runs or waits, and the generations of keys. A state machine without threads.
///
/// A key has at most one running and one waiting piece of work, which newer work replaces. What a read must see is known at any
/// time. A clear waits until the running work has finished, and holds back work that comes after it.
package struct WriteBehindQueue {
    typealias Completion = @Sendable () -> Void

    /// What a thread that has come for a key is to do.
    package enum Next {
        /// This, and then finish it.
        case work(DiskWork)
        /// Leave it to another thread: one that encodes, or one that writes.
        case elsewhere(encodes: Bool)
        /// Nothing waits, or it must wait longer.
        case nothing
    }

    fileprivate struct Slot {
        var running: DiskWork?
        var runningCompletions: [Completion] = []
        /// All that waits, as one.
        var waiting: PendingEntry?
        var waitingCompletions: [Completion] = []
        /// The place of the waiting work in the list by age.
        var ticket: UInt64 = 0

        /// Bytes that the waiting work holds.
        var cost: Int { waiting?.cost ?? 0 }
    }

    /// Whether a write replaces what is there; else an entry that exists, or that another write is about to make, is left alone.
    var replaces = true
    /// Most bytes that wait. With more, the writes that have waited longest become removals, so that a reader finds nothing instead
    /// of what was there before (unless that is to be kept).
    var costLimit = Int.max

    /// Changed with the work, under the same lock: a reader with the new generation sees the change.
    var generations = Generations()
    /// Keys of different bytes have different files, while Swift takes strings that look the same for equal.
    private var slots: [MemoryCacheKey: Slot] = [:]
    /// The keys of waiting work, the oldest first.
    private var ages = JobHeap<MemoryCacheKey>()
    private var runningCount = 0
    private var isClearRequested = false
    private var isClearRunning = false
    private var clearCompletions: [Completion] = []
    private var idleCompletions: [Completion] = []
    private var blocked: [Completion] = []

    /// Bytes held by waiting work.
    private(set) var waitingCost = 0
    /// Writes that were dropped because too much waited.
    private(set) var droppedCount = 0

    var isIdle: Bool { slots.isEmpty && !isClearing }

    /// Entries of the list by age; not many more than there are keys with work.
    var ageCount: Int { ages.entryCount }

    private var isClearing: Bool { isClearRequested || isClearRunning }
    private var canClear: Bool { isClearRequested && !isClearRunning && runningCount == 0 }

    /// In the order in which the work came, which is the order in which it goes on.
    private var slotsByAge: [(key: MemoryCacheKey, value: Slot)] {
        slots.sorted { $0.value.ticket < $1.value.ticket }
    }

    /// Takes over what a configuration says about writing.
    mutating func apply(_ config: ImageCacheConfig) {
        replaces = !config.writesWithoutOverwriting
        costLimit = config.maxPendingWriteBytes
    }

    // MARK: Work of a key

    /// Takes work for a key, which is of the next generation then. Returns whether the key has to be scheduled.
    mutating func submit(
        _ work: DiskWork,
        forKey key: String,
        isBounded: Bool = true,
        completion: Completion?
    ) -> Bool {
        let key = MemoryCacheKey(key)
        generations.change(key)
        var slot = slots[key] ?? Slot()
        let isNew = slot.waiting == nil
        let cost = slot.cost
        guard slot.take(work, completion, replacing: replaces, runningCounts: !isClearing) else {
            slots[key] = slot
            return false
        }
        put(slot, key, cost: cost, limit: isBounded ? costLimit : .max)
        return isNew && slot.running == nil && !isClearing
    }

    /// Puts a slot back whose waiting work has changed, as the youngest; it cost `cost` before.
    private mutating func put(_ slot: Slot, _ key: MemoryCacheKey, cost: Int, limit: Int) {
        waitingCost += slot.cost - cost
        _ = ages.remove(slot.ticket)
        slots[key] = slot
        slots[key]?.ticket = ages.insert(key, priority: .normal)
        guard slot.cost > 0 else { return }
        while waitingCost > limit, let oldest = ages.popFirst() {
            // One that is bigger than the limit waits alone.
            if oldest == key {
                slots[key]?.ticket = ages.insert(key, priority: .normal)
                return
            }
            drop(oldest)
        }
    }

    /// Drops the waiting work of a key, if that holds bytes.
    private mutating func drop(_ key: MemoryCacheKey) {
        guard let cost = slots[key]?.cost, cost > 0 else { return }
        waitingCost -= cost
        droppedCount += 1
        slots[key]?.waiting?.drop(replacing: replaces)
    }

    /// Starts what waits for a key, if it is for the kind of thread that asks.
    package mutating func next(_ key: String, for worker: DiskWorker) -> Next {
        let key = MemoryCacheKey(key)
        guard !isClearing, var slot = slots[key], slot.running == nil, var waiting = slot.waiting else {
            return .nothing
        }
        let (work, isLast) = waiting.takeNext(replacing: replaces)
        switch worker {
        case .disk where work.isEncoding: return .elsewhere(encodes: true)
        case .coding where !work.isEncoding: return .elsewhere(encodes: false)
        default: break
        }
        runningCount += 1
        slot.running = work
        if isLast {
            waitingCost -= slot.cost
            _ = ages.remove(slot.ticket)
            slot.waiting = nil
            slot.runningCompletions = slot.waitingCompletions
            slot.waitingCompletions = []
        } else {
            slot.waiting = waiting
        }
        slots[key] = slot
        return .work(work)
    }

    /// Ends what runs for a key, which was an image to be encoded: the bytes it gave (nil: none) wait in its place to be
    /// written, unless newer work waits already. The caller goes on as after ``finish(_:)``.
    mutating func finishEncoding(_ entry: CachedImageData?, forKey key: String) -> Ended {
        // What is about to be cleared need not be written.
        let name = MemoryCacheKey(key)
        guard let entry, !isClearing, let old = slots[name], old.running != nil else { return finish(key) }
        runningCount -= 1
        var waiting = PendingEntry()
        waiting.apply(.store(.entry(entry)), replacing: replaces)
        if let later = old.waiting { waiting.apply(later) }
        var slot = Slot(waiting: waiting, ticket: old.ticket)
        slot.waitingCompletions = old.runningCompletions + old.waitingCompletions
        put(slot, name, cost: old.cost, limit: costLimit)
        return ended([], keys: [key])
    }

    /// What has to be done when something has ended: what is to be called, and what can be begun.
    struct Ended {
        var completions: [Completion] = []
        var keys: [String] = []
        var schedulesClear = false
    }

    /// Ends what runs for a key.
    mutating func finish(_ key: String) -> Ended {
        let name = MemoryCacheKey(key)
        guard var slot = slots[name], slot.running != nil else { return Ended() }
        runningCount -= 1
        let completions = slot.runningCompletions
        slot.running = nil
        slot.runningCompletions = []
        let hasMore = slot.waiting != nil
        slots[name] = hasMore ? slot : nil
        return ended(completions, keys: hasMore && !isClearing ? [key] : [])
    }

    /// What a read of a key must see.
    func pending(_ key: MemoryCacheKey) -> PendingEntry {
        var pending = PendingEntry(hidesDisk: isClearing)
        guard let slot = slots[key] else { return pending }
        if !isClearing, let running = slot.running { pending.apply(running, replacing: replaces) }
        if let waiting = slot.waiting { pending.apply(waiting) }
        return pending
    }

    // MARK: Clearing

    /// Asks for everything to be removed, with which all keys are of the next generation. Waiting work is dropped; its completions are
    /// called after the clear. Returns whether the clear has to be scheduled now.
    mutating func requestClear(completion: Completion?) -> Bool {
        generations.change(nil)
        for (key, old) in slotsByAge where old.waiting != nil {
            var slot = old
            _ = ages.remove(slot.ticket)
            clearCompletions += slot.waitingCompletions
            slot.waiting = nil
            slot.waitingCompletions = []
            slots[key] = slot.running == nil ? nil : slot
        }
        waitingCost = 0
        if let completion { clearCompletions.append(completion) }
        let isFirst = !isClearing
        isClearRequested = true
        return isFirst && canClear
    }

    /// Starts the clear; false when there is none to start, or when it must wait for what runs.
    mutating func beginClear() -> Bool {
        guard canClear else { return false }
        (isClearRequested, isClearRunning) = (false, true)
        return true
    }

    /// Ends the clear.
    mutating func finishClear() -> Ended {
        guard isClearRunning else { return Ended() }
        isClearRunning = false
        // Cleared again since: completions that came with that request can be called with this one only if nothing was
        // stored in between, so all wait for the second.
        guard !isClearRequested else { return ended([], keys: []) }
        let completions = clearCompletions
        clearCompletions = []
        return ended(completions, keys: slotsByAge.map(\.key.string))
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
        let canBegin = !isClearing && slot?.waiting != nil && slot?.running == nil
        guard !canClear, !canBegin else { return false }
        blocked.append(body)
        return true
    }

    /// With those who wait for something to end, or for everything.
    private mutating func ended(_ completions: [Completion], keys: [String]) -> Ended {
        var completions = completions
        // Mostly nobody waits, and then nothing is copied.
        if !blocked.isEmpty { completions += blocked }
        blocked = []
        if isIdle, !idleCompletions.isEmpty {
            completions += idleCompletions
            idleCompletions = []
        }
        return Ended(completions: completions, keys: keys, schedulesClear: canClear)
    }
}

extension WriteBehindQueue.Slot {
    /// Adds work to what waits. False when that stays as it is, because it or what runs comes to the same (what runs does not
    /// count when everything is about to be removed).
    fileprivate mutating func take(
        _ work: DiskWork,
        _ completion: WriteBehindQueue.Completion?,
        replacing: Bool,
        runningCounts: Bool
    ) -> Bool {
        let isLate = work.isStore && !replacing && runningCounts && running?.isStore ?? false
        if let completion {
            if isLate, waiting == nil {
                runningCompletions.append(completion)
            } else {
                waitingCompletions.append(completion)
            }
        }
        if isLate, waiting == nil || waiting?.amendment != nil { return false }
        if work.isStore, !replacing, waiting?.picture != nil { return false }
        if case .amend = work, let waiting, waiting.hidesDisk, waiting.picture == nil { return false }
        var all = waiting ?? PendingEntry()
        all.apply(work, replacing: replacing)
        waiting = all
        return true
    }
}
