import FoundationEssentials

extension ImageCache {
    // MARK: Doing the work

    /// Takes work for a key and sees to it that it is done, on a thread of the cache.
    func submit(_ work: DiskWork, forKey key: String, completion: DiskBacklog.Completion?) {
        let config = config
        let replaces = !config.writesWithoutOverwriting
        let isScheduled = changing(key) { backlog in
            note(work, forKey: key, replacing: replaces)
            return backlog.submit(
                work,
                forKey: key,
                replacing: replaces,
                costLimit: config.maxPendingWriteBytes,
                completion: completion
            )
        }
        if isScheduled { schedule(key, encodes: work.isEncoding) }
    }

    /// Takes work for a key and does it before returning, on the caller's thread unless another is at it already.
    func perform(_ work: DiskWork, forKey key: String) {
        let wait = DiskWait()
        let replaces = !config.writesWithoutOverwriting
        _ = changing(key) { backlog in
            note(work, forKey: key, replacing: replaces)
            return backlog.submit(work, forKey: key, replacing: replaces) { wait.finish() }
        }
        // All threads of the cache may stand here, so nothing is left to them: whatever can be begun is begun here.
        while true {
            runClear()
            run(key, as: .caller)
            let mustWait = backlog.withLock { $0.whenFree(key) { wait.poke() } }
            if mustWait, wait.wait() { return }
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
        while case .work(let work) = next(key, for: worker) {
            let ended = run(work, forKey: key)
            let blocked = backlog.withLock { $0.takeBlocked() }
            if ended.schedulesClear { scheduleClear() }
            for poke in blocked { poke() }
            // Completions may take long; what came meanwhile does not wait for them.
            if ended.schedulesKey, !ended.completions.isEmpty { schedule(key, encodes: false) }
            for completion in ended.completions { completion() }
        }
        upkeep.continueScan()
        upkeep.maintainIfDue()
    }

    /// What the thread is to do for a key. Work for the other kind of threads is passed on to one of those.
    private func next(_ key: String, for worker: DiskWorker) -> DiskBacklog.Next {
        let next = backlog.withLock { $0.next(key, for: worker) }
        if case .elsewhere(let encodes) = next { schedule(key, encodes: encodes) }
        return next
    }

    private func run(_ work: DiskWork, forKey key: String) -> DiskBacklog.Ended {
        switch work {
        case .write(let entry):
            if !diskCache.store(entry, forKey: key) { forgetStored(entry, forKey: key) }
        case .encode(let pending):
            let entry = pending.encoded()
            let config = config
            return backlog.withLock { backlog in
                backlog.finishEncoding(
                    entry,
                    forKey: key,
                    replacing: !config.writesWithoutOverwriting,
                    costLimit: config.maxPendingWriteBytes
                )
            }
        case .amend(let amendment):
            amend(amendment, forKey: key)
        case .remove:
            diskCache.removeData(forKey: key)
        case .nothing:
            break
        }
        return backlog.withLock { $0.finish(key) }
    }

    func clearDisk(completion: DiskBacklog.Completion?) {
        let isScheduled = changing(nil) { backlog in
            known.withLock { $0.removeAll() }
            return backlog.requestClear(completion: completion)
        }
        if isScheduled { scheduleClear() }
    }

    /// Changes what readers of a key (of all keys, if nil) see, and their marks with it: under both locks, so that who has
    /// the new mark sees the change, and who has the old one does not share a read with those.
    private func changing<Result>(_ key: String?, _ body: (inout DiskBacklog) -> Result) -> Result {
        marks.withLock { marks in
            if let key { marks.change(key) } else { marks.changeAll() }
            return backlog.withLock(body)
        }
    }

    /// Does what changes memory and disk, one after the other: whoever looks at both meanwhile can know.
    func changingBoth(_ key: String?, _ body: () -> Void) {
        marks.withLock { $0.begin(key) }
        body()
        marks.withLock { $0.end(key) }
    }

    private func scheduleClear() { diskQueue.submit { self.runClear() } }

    private func runClear() {
        guard backlog.withLock({ $0.beginClear() }) else { return }
        diskCache.removeAllData()
        let (ended, blocked) = backlog.withLock { ($0.finishClear(), $0.takeBlocked()) }
        let (completions, keys, isScheduled) = ended
        for key in keys { schedule(key, encodes: false) }
        if isScheduled { scheduleClear() }
        for poke in blocked { poke() }
        for completion in completions { completion() }
    }

    // MARK: Reading

    /// What is stored for a key, whether on disk already or not; else what a read-only directory or the additional path has.
    /// Blocks.
    func readEntry(forKey key: String) -> CachedImageData? {
        guard !key.isEmpty else { return nil }
        let mark = marks.withLock { $0.mark(of: key) }
        let entry = readOwnEntry(forKey: key) ?? readForeignEntry(forKey: key)
        learn(entry.map { KnownValidators($0) }, forKey: key, since: mark)
        return entry
    }

    /// What a read-only directory or the additional path has for a key. Blocks.
    func readForeignEntry(forKey key: String) -> CachedImageData? {
        let (additionalPath, isMapped) = state.withLock { ($0.additionalCachePath, $0.config.mapsDiskData) }
        if let entry = readOnlyEntry(forKey: key, mapped: isMapped) { return entry }
        guard let path = additionalPath?(key) else { return nil }
        return DiskCache.readFile(path, mapped: isMapped)
    }

    private func readOwnEntry(forKey key: String) -> CachedImageData? {
        var (pending, mark) = pendingEntry(forKey: key)
        if !pending.hidesDisk, var entry = diskCache.entry(forKey: key) {
            // What changes one entry must not get to another one that has taken its place. With so many in a row the
            // last one may.
            for _ in 0..<8 where pending.amendment != nil {
                let (now, latest) = pendingEntry(forKey: key)
                if latest == mark { break }
                (pending, mark) = (now, latest)
                guard !pending.hidesDisk, let again = diskCache.entry(forKey: key) else {
                    return pending.picture?.entry
                }
                entry = again
            }
            return entry.amended(by: pending.amendment)
        }
        return pending.picture?.entry
    }

    /// What readers of a key must see besides what is on disk, and the mark of that state.
    func pendingEntry(forKey key: String) -> (PendingEntry, WriteMarks.Mark) {
        let replaces = !config.writesWithoutOverwriting
        return marks.withLock { marks in
            (backlog.withLock { $0.pending(key, replacing: replaces) }, marks.mark(of: key))
        }
    }

    /// Whether a key is on disk, or about to be.
    func hasEntry(forKey key: String) -> Bool {
        guard !key.isEmpty else { return false }
        let (pending, _) = pendingEntry(forKey: key)
        return pending.picture != nil || !pending.hidesDisk && diskCache.containsData(forKey: key)
    }
}
