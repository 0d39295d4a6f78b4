/// A thread that takes work from the queue.
package enum DiskWorker {
    /// A disk thread of the cache, which does not encode.
    case disk
    /// A decode thread, which does not write: writes may take long if the disk is busy.
    case coding
    /// The thread of a blocked caller, which does all kinds of work.
    case caller
}

/// The write-behind queue: running and pending work on disk entries, and the generations of keys. A state machine without threads.
///
/// A key has at most one running and one pending piece of work; newer work is merged into the pending one. The state that a read
/// must see is always known. A clear waits until the running work has finished, and holds back later work.
package struct WriteBehindQueue {
    typealias Completion = @Sendable () -> Void

    /// The instruction for a thread that asks for a key's work.
    package enum Next {
        /// Do this work, then call `finish`.
        case work(DiskWork)
        /// Leave the work to another thread: one that encodes, or one that writes.
        case elsewhere(encodes: Bool)
        /// Nothing is pending, or it must wait longer.
        case nothing
    }

    fileprivate struct Slot {
        var running: DiskWork?
        var runningCompletions: [Completion] = []
        /// All pending work, combined.
        var waiting: PendingEntry?
        var waitingCompletions: [Completion] = []
        /// The position of the pending work in the list by age.
        var ticket: UInt64 = 0

        /// The number of bytes held by the pending work.
        var cost: Int { waiting?.cost ?? 0 }
    }

    /// True if a write replaces an existing entry; otherwise, an entry that exists, or that another write is about to create, is
    /// kept.
    var replaces = true
    /// The maximum number of pending bytes (back-pressure). If it is exceeded, the oldest pending writes become removals, so that
    /// readers find nothing instead of the previous entry (unless existing entries are to be kept).
    var costLimit = Int.max

    /// Changed together with the work, under the same lock: a reader with the new generation sees the change.
    var generations = Generations()
    /// By bytes: keys with different bytes have different files, but Swift treats canonically equivalent strings as equal.
    private var slots: [MemoryCacheKey: Slot] = [:]
    /// The keys of pending work, the oldest first.
    private var ages = JobHeap<MemoryCacheKey>()
    private var runningCount = 0
    private var isClearRequested = false
    private var isClearRunning = false
    private var clearCompletions: [Completion] = []
    private var idleCompletions: [Completion] = []
    private var blocked: [Completion] = []

    /// The number of bytes held by pending work.
    private(set) var waitingCost = 0
    /// The number of writes that were dropped because too many bytes were pending.
    private(set) var droppedCount = 0

    var isIdle: Bool { slots.isEmpty && !isClearing }

    /// The number of entries in the list by age; not much larger than the number of keys with work.
    var ageCount: Int { ages.entryCount }

    private var isClearing: Bool { isClearRequested || isClearRunning }
    private var canClear: Bool { isClearRequested && !isClearRunning && runningCount == 0 }

    /// The slots in the order in which the work was submitted, which is the order in which it resumes.
    private var slotsByAge: [(key: MemoryCacheKey, value: Slot)] {
        slots.sorted { $0.value.ticket < $1.value.ticket }
    }

    /// Applies the write settings of a configuration.
    mutating func apply(_ config: ImageCacheConfig) {
        replaces = !config.writesWithoutOverwriting
        costLimit = config.maxPendingWriteBytes
    }

    // MARK: Work by key

    /// Adds work for a key, which gets the next generation. Returns whether the key has to be scheduled.
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

    /// Stores a slot whose pending work has changed, as the youngest; its cost was `cost` before.
    private mutating func put(_ slot: Slot, _ key: MemoryCacheKey, cost: Int, limit: Int) {
        waitingCost += slot.cost - cost
        _ = ages.remove(slot.ticket)
        slots[key] = slot
        slots[key]?.ticket = ages.insert(key, priority: .normal)
        guard slot.cost > 0 else { return }
        while waitingCost > limit, let oldest = ages.popFirst() {
            // Work that is bigger than the limit may be pending by itself.
            if oldest == key {
                slots[key]?.ticket = ages.insert(key, priority: .normal)
                return
            }
            drop(oldest)
        }
    }

    /// Drops the pending work of a key, if it holds bytes.
    private mutating func drop(_ key: MemoryCacheKey) {
        guard let cost = slots[key]?.cost, cost > 0 else { return }
        waitingCost -= cost
        droppedCount += 1
        slots[key]?.waiting?.drop(replacing: replaces)
    }

    /// Starts the pending work of a key, if it is for this kind of thread.
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

    /// Ends the running work of a key, the encoding of an image: the encoded entry (nil: none) becomes pending for a write, unless
    /// newer work is already pending. The caller continues as after ``finish(_:)``.
    mutating func finishEncoding(_ entry: CachedImageData?, forKey key: String) -> Ended {
        // An entry that is about to be cleared need not be written.
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

    /// The actions after work has ended: completions to call, and work that can start.
    struct Ended {
        var completions: [Completion] = []
        var keys: [String] = []
        var schedulesClear = false
    }

    /// Ends the running work of a key.
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

    /// Returns the pending state that a read of a key must see.
    func pending(_ key: MemoryCacheKey) -> PendingEntry {
        var pending = PendingEntry(hidesDisk: isClearing)
        guard let slot = slots[key] else { return pending }
        if !isClearing, let running = slot.running { pending.apply(running, replacing: replaces) }
        if let waiting = slot.waiting { pending.apply(waiting) }
        return pending
    }

    // MARK: Clearing

    /// Requests a clear, which gives all keys the next generation. Pending work is dropped; its completions are called after the
    /// clear. Returns whether the clear has to be scheduled now.
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

    /// Starts the clear; false if none is requested, or if it must wait for running work.
    mutating func beginClear() -> Bool {
        guard canClear else { return false }
        (isClearRequested, isClearRunning) = (false, true)
        return true
    }

    /// Ends the clear.
    mutating func finishClear() -> Ended {
        guard isClearRunning else { return Ended() }
        isClearRunning = false
        // Another clear was requested: the completions of that request could be called with this one only if nothing was stored in
        // between, so all wait for the second clear.
        guard !isClearRequested else { return ended([], keys: []) }
        let completions = clearCompletions
        clearCompletions = []
        return ended(completions, keys: slotsByAge.map(\.key.string))
    }

    // MARK: Waiting

    /// Calls `completion` when no work is running or pending; false if that is the case now (then it is not kept).
    mutating func whenIdle(_ completion: @escaping Completion) -> Bool {
        guard !isIdle else { return false }
        idleCompletions.append(completion)
        return true
    }

    /// Calls `body` when the work of a key, or a clear before it, may be able to start; for a thread that waits for that work.
    /// False if it can start now (then `body` is not kept).
    mutating func whenFree(_ key: String, _ body: @escaping Completion) -> Bool {
        let slot = slots[MemoryCacheKey(key)]
        let canBegin = !isClearing && slot?.waiting != nil && slot?.running == nil
        guard !canClear, !canBegin else { return false }
        blocked.append(body)
        return true
    }

    /// Adds the subscribers that wait for any work, or all work, to end.
    private mutating func ended(_ completions: [Completion], keys: [String]) -> Ended {
        var completions = completions
        // Usually, no thread waits, and nothing is copied.
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
    /// Merges work into the pending work. False if that is unchanged, because it or the running work has the same result (running
    /// work does not count if a clear is pending).
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
        if work.isStore, !replacing, waiting?.source != nil { return false }
        if case .amend = work, let waiting, waiting.hidesDisk, waiting.source == nil { return false }
        var all = waiting ?? PendingEntry()
        all.apply(work, replacing: replacing)
        waiting = all
        return true
    }
}
