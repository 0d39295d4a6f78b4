import FoundationEssentials

extension ImageCache {
    // MARK: Running work

    /// Queues work for a key and schedules it on a thread of the cache.
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

    /// Queues work for a key and completes it before returning, on the caller's thread unless another thread is already running it.
    func perform(_ work: DiskWork, forKey key: String) {
        let wake = ConditionLock(Wake.sleeping)
        _ = enqueue(work, forKey: key, isBounded: false) {
            wake.withLock { $0 = .done }
            wake.broadcast()
        }
        // All threads of the cache may be blocked here, so all work that can start is run here.
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
        // Encoding is queued among decodes: behind all of them, a long queue would fill the write-behind queue and drop writes.
        if encodes {
            codingQueue.submit { self.run(key, as: .coding) }
        } else {
            diskQueue.submit(priority: .low) { self.run(key, as: .disk) }
        }
    }

    /// Runs the queued work of a key, until none is left for this kind of thread.
    private func run(_ key: String, as worker: DiskWorker) {
        while case .work(let work) = next(key, for: worker) { goOn(after: run(work, forKey: key), of: key) }
        upkeep.continueScan()
        upkeep.maintainIfDue()
    }

    /// Calls completions, and schedules the work that was blocked by the finished work; except `key`, with which this thread
    /// continues itself, unless completions delay it.
    private func goOn(after ended: WriteBehindQueue.Ended, of key: String? = nil) {
        for next in ended.keys where next != key || !ended.completions.isEmpty { schedule(next, encodes: false) }
        if ended.schedulesClear { scheduleClear() }
        for completion in ended.completions { completion() }
    }

    /// Returns the next work of a key. Hands work for the other kind of thread over to it.
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

    /// Runs a change of memory and disk, of one key or of all keys if nil. Concurrent readers of both can detect it by the
    /// generation.
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

    /// Returns the generation of a key (its version stamp), which differs after each change.
    package func generation(forKey key: String) -> Generation {
        let key = MemoryCacheKey(key)
        return writes.withLock { $0.generations.generation(of: key) }
    }

    /// Returns true if the key has neither changed since nor has a pending change.
    package func isCurrent(_ generation: Generation, forKey key: String) -> Bool {
        let key = MemoryCacheKey(key)
        return writes.withLock { $0.generations.isCurrent(generation, of: key) }
    }

    /// Returns the stored entry of a key, whether it is already on disk or still pending; otherwise that of a read-only directory
    /// or the additional path. Blocks.
    package func readEntry(forKey key: String) -> CachedImageData? {
        guard !key.isEmpty else { return nil }
        let (own, generation) = readSettled(key, { diskCache.entry(forKey: key) }, { $0.entry })
        let entry = own ?? readForeignEntry(forKey: key)
        learn(entry.map { CachedValidators($0) }, forKey: key, since: generation)
        return entry
    }

    /// Returns the entry of a key in a read-only directory or at the additional path. Blocks.
    func readForeignEntry(forKey key: String) -> CachedImageData? {
        let (additionalPath, isMapped) = state.withLock { ($0.additionalCachePath, $0.config.mapsDiskData) }
        if let entry = readOnlyEntry(forKey: key, mapped: isMapped) { return entry }
        guard let path = additionalPath?(key) else { return nil }
        return DiskCache.readFile(path, mapped: isMapped)
    }

    /// Returns an entry's metadata, whether it is already on disk or still pending; its bytes may be missing. Blocks.
    func readDetails(forKey key: String) -> (found: CachedImageData?, generation: Generation) {
        guard !key.isEmpty else { return (nil, generation(forKey: key)) }
        return readSettled(
            key,
            { (diskCache as? DiskCache).map { $0.details(forKey: key) } ?? diskCache.entry(forKey: key) },
            { $0.content }
        )
    }

    /// Returns the entry on disk with its pending amendment, otherwise the entry that is pending. Blocks.
    private func readSettled(
        _ key: String,
        _ read: () -> CachedImageData?,
        _ made: (DiskWork.Picture) -> CachedImageData?
    ) -> (found: CachedImageData?, generation: Generation) {
        var (pending, generation) = pendingEntry(forKey: key)
        var onDisk = pending.hidesDisk ? nil : read()
        // An amendment of one entry must not be applied to another one that replaced it. After this many changes in a row, it may
        // be.
        for _ in 0..<8 where pending.amendment != nil && onDisk != nil {
            let (now, latest) = pendingEntry(forKey: key)
            if latest == generation { break }
            (pending, generation) = (now, latest)
            onDisk = pending.hidesDisk ? nil : read()
        }
        let found = onDisk.map { $0.amended(by: pending.amendment) } ?? pending.picture.flatMap(made)
        return (found, generation)
    }

    /// Returns the pending state that readers of a key must see on top of the disk, and its generation.
    private func pendingEntry(forKey key: String) -> (PendingEntry, Generation) {
        let key = MemoryCacheKey(key)
        return writes.withLock { ($0.pending(key), $0.generations.generation(of: key)) }
    }

    /// Returns whether a key is on disk, or pending.
    func hasEntry(forKey key: String) -> Bool {
        guard !key.isEmpty else { return false }
        let (pending, _) = pendingEntry(forKey: key)
        return pending.picture != nil || !pending.hidesDisk && diskCache.containsData(forKey: key)
    }
}
