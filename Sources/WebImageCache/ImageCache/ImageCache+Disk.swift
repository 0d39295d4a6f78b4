import FoundationEssentials

extension ImageCache {
    // MARK: Doing the work

    /// Takes work for a key and sees to it that it is done, on a thread of the cache.
    func submit(_ work: DiskWork, forKey key: String, completion: WriteBehindQueue.Completion?) {
        if enqueue(work, forKey: key, completion: completion) { schedule(key, encodes: work.isEncoding) }
    }

    private func enqueue(
        _ work: DiskWork,
        forKey key: String,
        isBounded: Bool = true,
        completion: WriteBehindQueue.Completion?
    ) -> Bool {
        writes.withLock { writes in
            note(work, forKey: key, replacing: writes.replaces)
            return writes.submit(work, forKey: key, isBounded: isBounded, completion: completion)
        }
    }

    private enum Wake { case sleeping, retry, done }

    /// Takes work for a key and does it before returning, on the caller's thread unless another is at it already.
    func perform(_ work: DiskWork, forKey key: String) {
        let wake = ConditionLock(Wake.sleeping)
        _ = enqueue(work, forKey: key, isBounded: false) {
            wake.withLock { $0 = .done }
            wake.broadcast()
        }
        // All threads of the cache may wait here, so nothing is left to them: whatever can be begun is begun here.
        while true {
            runClear()
            run(key, as: .caller)
            let mustWait = writes.withLock { writes in
                writes.whenFree(key) {
                    wake.withLock { if $0 == .sleeping { $0 = .retry } }
                    wake.broadcast()
                }
            }
            guard mustWait else { continue }
            let isDone = wake.wait { state -> Bool? in
                guard state == .retry else { return state == .done ? true : nil }
                state = .sleeping
                return false
            }
            if isDone { return }
        }
    }

    private func schedule(_ key: String, encodes: Bool) {
        // Encoding takes its turn among decodes: behind all of them, a long list would fill the backlog and lose writes.
        if encodes {
            codingQueue.submit { self.run(key, as: .coding) }
        } else {
            diskQueue.submit(priority: .low) { self.run(key, as: .disk) }
        }
    }

    /// Does what waits for a key, until nothing does that is for this kind of thread.
    private func run(_ key: String, as worker: DiskWorker) {
        while case .work(let work) = next(key, for: worker) { goOn(after: run(work, forKey: key), of: key) }
        upkeep.continueScan()
        upkeep.maintainIfDue()
    }

    /// Calls completions, and schedules what something that has ended was in the way of; but not `key`, with which the thread goes on
    /// by itself, unless completions keep it from that.
    private func goOn(after ended: WriteBehindQueue.Ended, of key: String? = nil) {
        for next in ended.keys where next != key || !ended.completions.isEmpty { schedule(next, encodes: false) }
        if ended.schedulesClear { scheduleClear() }
        for completion in ended.completions { completion() }
    }

    /// What the thread is to do for a key. Work for the other kind of threads is passed on to one of those.
    private func next(_ key: String, for worker: DiskWorker) -> WriteBehindQueue.Next {
        let next = writes.withLock { $0.next(key, for: worker) }
        if case .elsewhere(let encodes) = next { schedule(key, encodes: encodes) }
        return next
    }

    private func run(_ work: DiskWork, forKey key: String) -> WriteBehindQueue.Ended {
        switch work {
        case .store(.entry(let entry)):
            if !diskCache.store(entry, forKey: key) { forgetStored(entry, forKey: key) }
        case .store(.image(let pending)):
            let entry = pending.encoded()
            return writes.withLock { $0.finishEncoding(entry, forKey: key) }
        case .amend(let amendment):
            amend(amendment, forKey: key)
        case .remove:
            diskCache.removeData(forKey: key)
        case .nothing:
            break
        }
        return writes.withLock { $0.finish(key) }
    }

    func clearDisk(completion: WriteBehindQueue.Completion?) {
        let isScheduled = writes.withLock { writes in
            known.withLock { $0.removeAll() }
            return writes.requestClear(completion: completion)
        }
        if isScheduled { scheduleClear() }
    }

    /// Does what changes memory and disk, one after the other, of a key or of all keys if nil: whoever looks at both meanwhile can know.
    func changingBoth(_ key: String?, _ body: () -> Void) {
        let key = key.map { MemoryCacheKey($0) }
        writes.withLock { $0.generations.begin(key) }
        body()
        writes.withLock { $0.generations.end(key) }
    }

    private func scheduleClear() { diskQueue.submit { self.runClear() } }

    private func runClear() {
        guard writes.withLock({ $0.beginClear() }) else { return }
        diskCache.removeAllData()
        goOn(after: writes.withLock { $0.finishClear() })
    }

    // MARK: Reading

    /// The version stamp of a key: another one after each change.
    package func generation(forKey key: String) -> Generation {
        let key = MemoryCacheKey(key)
        return writes.withLock { $0.generations.generation(of: key) }
    }

    /// True if the key has neither changed since nor a change pending.
    package func isCurrent(_ generation: Generation, forKey key: String) -> Bool {
        let key = MemoryCacheKey(key)
        return writes.withLock { $0.generations.isCurrent(generation, of: key) }
    }

    /// What is stored for a key, whether on disk already or not; else what a read-only directory or the additional path has.
    /// Blocks.
    package func readEntry(forKey key: String) -> CachedImageData? {
        guard !key.isEmpty else { return nil }
        let (own, generation) = readSettled(key, { diskCache.entry(forKey: key) }, { $0.entry })
        let entry = own ?? readForeignEntry(forKey: key)
        learn(entry.map { KnownValidators($0) }, forKey: key, since: generation)
        return entry
    }

    /// What a read-only directory or the additional path has for a key. Blocks.
    func readForeignEntry(forKey key: String) -> CachedImageData? {
        let (additionalPath, isMapped) = state.withLock { ($0.additionalCachePath, $0.config.mapsDiskData) }
        if let entry = readOnlyEntry(forKey: key, mapped: isMapped) { return entry }
        guard let path = additionalPath?(key) else { return nil }
        return DiskCache.readFile(path, mapped: isMapped)
    }

    /// What is stored with an entry, whether on disk already or not; its bytes may be left out. Blocks.
    func readDetails(forKey key: String) -> (found: CachedImageData?, generation: Generation) {
        guard !key.isEmpty else { return (nil, generation(forKey: key)) }
        return readSettled(
            key,
            { (diskCache as? DiskCache).map { $0.details(forKey: key) } ?? diskCache.entry(forKey: key) },
            { $0.content }
        )
    }

    /// What is on disk with what is about to change of it, else what is about to be stored. Blocks.
    private func readSettled(
        _ key: String,
        _ read: () -> CachedImageData?,
        _ made: (DiskWork.Picture) -> CachedImageData?
    ) -> (found: CachedImageData?, generation: Generation) {
        var (pending, generation) = pendingEntry(forKey: key)
        var onDisk = pending.hidesDisk ? nil : read()
        // A change of one entry must not be applied to another one that has taken its place. With so many in a row the last one may.
        for _ in 0..<8 where pending.amendment != nil && onDisk != nil {
            let (now, latest) = pendingEntry(forKey: key)
            if latest == generation { break }
            (pending, generation) = (now, latest)
            onDisk = pending.hidesDisk ? nil : read()
        }
        let found = onDisk.map { $0.amended(by: pending.amendment) } ?? pending.picture.flatMap(made)
        return (found, generation)
    }

    /// The pending state that readers of a key must see on top of the disk, and its generation.
    private func pendingEntry(forKey key: String) -> (PendingEntry, Generation) {
        let key = MemoryCacheKey(key)
        return writes.withLock { ($0.pending(key), $0.generations.generation(of: key)) }
    }

    /// Whether a key is on disk, or about to be.
    func hasEntry(forKey key: String) -> Bool {
        guard !key.isEmpty else { return false }
        let (pending, _) = pendingEntry(forKey: key)
        return pending.picture != nil || !pending.hidesDisk && diskCache.containsData(forKey: key)
    }
}
