import FoundationEssentials

extension ImageCache {
    // MARK: Doing the work

    /// Takes work for a key and sees to it that it is done, on a thread of the cache.
    func submit(_ work: DiskWork, forKey key: String, completion: DiskBacklog.Completion?) {
        marks.withLock { $0.change(key) }
        let config = config
        let isScheduled = backlog.withLock { backlog in
            backlog.submit(
                work,
                forKey: key,
                replacing: !config.writesWithoutOverwriting,
                costLimit: config.maxPendingWriteBytes,
                completion: completion
            )
        }
        if isScheduled { schedule(key, encodes: work.isEncoding) }
    }

    /// Takes work for a key and does it before returning, on the caller's thread unless another is at it already.
    func perform(_ work: DiskWork, forKey key: String) {
        marks.withLock { $0.change(key) }
        let wait = DiskWait()
        let replaces = !config.writesWithoutOverwriting
        _ = backlog.withLock { backlog in
            backlog.submit(work, forKey: key, replacing: replaces) { wait.finish() }
        }
        // All threads of the cache may stand here, so nothing is left to them: whatever can be begun is begun here.
        while true {
            runClear()
            run(key)
            let mustWait = backlog.withLock { $0.whenFree(key) { wait.poke() } }
            if mustWait, wait.wait() { return }
        }
    }

    private func schedule(_ key: String, encodes: Bool) {
        // Encoding takes its turn among decodes: behind all of them, a long list would fill the backlog and lose writes.
        if encodes {
            CodingQueue.shared.submit { self.run(key) }
        } else {
            diskQueue.submit(priority: .low) { self.run(key) }
        }
    }

    /// Does what waits for a key, until nothing does.
    private func run(_ key: String) {
        while let work = backlog.withLock({ $0.begin(key) }) {
            run(work, forKey: key)
            let (ended, blocked) = backlog.withLock { ($0.finish(key), $0.takeBlocked()) }
            let (completions, isScheduled, schedulesClear) = ended
            if schedulesClear { scheduleClear() }
            for poke in blocked { poke() }
            // Completions may take long; what came meanwhile does not wait for them.
            if isScheduled, !completions.isEmpty { schedule(key, encodes: false) }
            for completion in completions { completion() }
        }
        maintainIfDue()
    }

    private func run(_ work: DiskWork, forKey key: String) {
        switch work {
        case .write(let entry):
            diskCache.store(entry, forKey: key)
        case .encode(let pending):
            guard let entry = pending.encoded() else { return }
            // From here on readers get the bytes instead of encoding once more.
            backlog.withLock { $0.update(.write(entry), forKey: key) }
            diskCache.store(entry, forKey: key)
        case .remove:
            diskCache.removeData(forKey: key)
        case .nothing:
            break
        }
    }

    func clearDisk(completion: DiskBacklog.Completion?) {
        marks.withLock { $0.changeAll() }
        if backlog.withLock({ $0.requestClear(completion: completion) }) { scheduleClear() }
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

    /// What is stored for a key, whether on disk already or not; else what the additional path has. Blocks.
    func readEntry(forKey key: String) -> CachedImageData? {
        guard !key.isEmpty else { return nil }
        // An existing entry wins over one that waits, if it is not to be overwritten.
        if config.writesWithoutOverwriting, let entry = diskCache.entry(forKey: key) { return entry }
        switch backlog.withLock({ $0.pending(key) }) {
        case .entry(let entry): return entry
        case .image(let pending): return pending.encoded()
        case .absent: break
        case .nothing: if let entry = diskCache.entry(forKey: key) { return entry }
        }
        let (additionalPath, isMapped) = state.withLock { ($0.additionalCachePath, $0.config.mapsDiskData) }
        guard let path = additionalPath?(key) else { return nil }
        return DiskCache.readFile(path, mapped: isMapped)
    }

    /// Whether a key is on disk, or about to be.
    func hasEntry(forKey key: String) -> Bool {
        guard !key.isEmpty else { return false }
        switch backlog.withLock({ $0.pending(key) }) {
        case .entry, .image: return true
        case .absent: return false
        case .nothing: return diskCache.containsData(forKey: key)
        }
    }

    // MARK: Looking after the directory

    /// Starts a pass for expired entries when the last one was long enough ago.
    func maintainIfDue() {
        let now = clock.monotonicNanoseconds()
        let isDue = state.withLock { state in
            guard now >= state.nextExpiry else { return false }
            state.nextExpiry = Self.nextExpiry(after: clock, state.config)
            return true
        }
        if isDue { diskQueue.submit(priority: .low) { self.diskCache.removeExpiredData(timeLimit: nil) } }
    }
}

extension DiskWork {
    var isEncoding: Bool { if case .encode = self { true } else { false } }
}
