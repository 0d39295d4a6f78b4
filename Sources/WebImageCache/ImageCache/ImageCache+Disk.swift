public import FoundationEssentials

extension ImageCache {
    // MARK: Running work

    /// Queues work for a key and schedules it on a thread of the cache.
    func submit(_ work: DiskWork, forKey key: String, completion: WriteBehindQueue.Completion?) {
        if enqueue(work, forKey: key, completion: completion) { schedule(key, encodes: work.isEncoding) }
    }

    /// Queues work for a key. Returns whether it has to be scheduled.
    func enqueue(
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

    func schedule(_ key: String, encodes: Bool) {
        // Encoding is queued among decodes: behind all of them, a long queue would fill the write-behind queue and drop writes.
        if encodes {
            codingQueue.submit { self.run(key, as: .coding) }
        } else {
            let isLocal = diskCache is DiskCache
            diskQueue.submit(priority: .low, isBrief: isLocal, isPatient: isLocal) { self.run(key, as: .disk) }
        }
    }

    /// True if reads use only the cache's directory. Other sources may hang, and a write must not wait for them.
    private var readsAreBrief: Bool {
        diskCache is DiskCache
            && state.withLock { $0.additionalCachePath == nil && $0.config.readOnlyDirectories.isEmpty }
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
        _ made: (DiskWork.Source) -> CachedImageData?
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
        let found = onDisk.map { $0.amended(by: pending.amendment) } ?? pending.source.flatMap(made)
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
        return pending.source != nil || !pending.hidesDisk && diskCache.containsData(forKey: key)
    }
}

extension ImageCache {
    /// Returns the image in memory.
    public func memoryImage(forKey key: String) -> Image? { key.isEmpty ? nil : memoryCache.image(forKey: key) }

    /// Returns the image in memory; with ``WebImageOptions/decodeFirstFrameOnly``, an animation as a still image. Without that
    /// option, an entry with only the first frame of an animation is not returned.
    public func imageFromMemory(forKey key: String, options: WebImageOptions = []) -> Image? {
        guard let image = memoryImage(forKey: key) else { return nil }
        guard options.contains(.decodeFirstFrameOnly) else {
            return image.servesAsAnimation(isRequired: options.contains(.matchAnimatedImageClass)) ? image : nil
        }
        return image.still
    }

    /// Returns the encoded bytes on disk. Synchronous.
    public func diskData(forKey key: String) -> Data? { readEntry(forKey: key)?.data }

    /// Returns the entry on disk. Synchronous.
    public func diskEntry(forKey key: String) -> CachedImageData? { readEntry(forKey: key) }

    /// Returns true if there is an entry on disk, or a pending one. Synchronous; does not open the file.
    public func diskDataExists(forKey key: String) -> Bool { hasEntry(forKey: key) }

    // MARK: On a thread of the cache

    /// Reads the entry on disk on a thread of the cache, by priority among the queued disk work. `completion` is called exactly
    /// once, on a thread of the cache, with nil if there is no entry. A cancellation calls it at once with nil. It must not block.
    @discardableResult
    public func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: diskQueue, priority, isBrief: readsAreBrief, completion) {
            defer { self.upkeep.maintainIfDue() }
            return self.readEntry(forKey: key)
        }
    }

    /// Finds the first level, memory or disk, that contains the key. `completion` is called exactly once: on the caller's thread if
    /// the disk need not be checked, otherwise on a thread of the cache. It must not block.
    public func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        if cacheType.includesMemory, memoryImage(forKey: key) != nil { return completion(.memory) }
        guard cacheType.includesDisk, !key.isEmpty else { return completion(.none) }
        onDiskQueue(.inline, { $0.hasEntry(forKey: key) ? .disk : .none }, completion)
    }

    /// Returns the first level, memory or disk, that contains the key.
    public func containsImage(forKey key: String, in cacheType: ImageCacheType = .all) async -> ImageCacheType {
        await awaitCompletion { containsImage(forKey: key, in: cacheType, completion: $0) }
    }

    /// The directories that are read if an entry is not on disk; see ``ImageCacheConfig/readOnlyDirectories``. Duplicates are
    /// removed, and relative paths are made absolute.
    public var readOnlyDirectories: [String] {
        get { Self.usable(state.withLock { $0.config.readOnlyDirectories }) }
        set {
            state.withLock { $0.config.readOnlyDirectories = Self.usable(newValue) }
            changePlaces()
        }
    }

    /// Discards all knowledge of keys after a change of the directories to read: their entries may be different now.
    func changePlaces() {
        writes.withLock { writes in
            writes.generations.change(nil)
            known.withLock { $0.removeAll() }
        }
    }

    private static func usable(_ paths: [String]) -> [String] {
        var seen: Set<String> = []
        return paths.filter { !$0.isEmpty }.map { CacheDirectory.absolute($0) }.filter { seen.insert($0).inserted }
    }

    /// Returns the entry of a key in the read-only directories: the first file that is a valid entry of the key, or that contains
    /// plain bytes instead of an entry. Blocks.
    func readOnlyEntry(forKey key: String, mapped: Bool) -> CachedImageData? {
        let directories = readOnlyDirectories
        guard !directories.isEmpty else { return nil }
        let name = CacheFileName(key: key).string
        let plainName = String(name.prefix { $0 != "." })
        for directory in directories {
            for name in name == plainName ? [name] : [name, plainName] {
                if let entry = DiskCache.readFile(directory + "/" + name, key: key, mapped: mapped) { return entry }
            }
        }
        return nil
    }
}
