import FoundationEssentials
import Glibc

/// A walk through the directory that stores continue, to find its size and its oldest entries.
struct RunningScan {
    let number: Int
    let type: ImageCacheConfig.ExpireType
    let walk: DirectoryWalk
    var found = EntryTable()
}

extension DiskCache {
    enum ScanProgress {
        /// Another thread is performing a step, or the walk failed or was abandoned.
        case none
        /// The walk is not finished.
        case going
        /// The walk is finished.
        case finished(looks: Int)
    }

    /// The maximum number of eviction batches and of walk steps per call.
    private static let evictionsPerCall = 4
    private static let continuedSteps = 16

    /// Enforces the size limit after a store of `byteCount` bytes: evicts the oldest entries while the limit is exceeded, a few at
    /// most, and continues the walk that finds them.
    func keepSizeLimit(after byteCount: Int = 0) {
        var looks = RollingEviction.largestStep
        // A small directory is walked and trimmed at once. A second walk means that nothing can be removed.
        for _ in 0..<2 {
            evictExcess()
            let step = state.withLock { $0.eviction.nextStep(limit: $0.config.maxDiskSize, written: byteCount) }
            guard let step, looks > 0, case .finished(let count) = advanceScan(step, budget: min(looks, step.budget))
            else {
                return
            }
            looks -= count
        }
        evictExcess()
    }

    /// Continues a walk that a store has begun, for a bounded time (about 10 ms). Returns whether there is more to walk, or to
    /// remove to enforce the size limit.
    ///
    /// A store that exceeds the size limit examines only a bounded number of files; the rest is examined here, on a thread of the
    /// cache, or by later stores.
    func continueScan() -> Bool {
        evictExcess()
        for _ in 0..<Self.continuedSteps {
            guard let step = state.withLock({ $0.eviction.continuedStep() }) else { break }
            guard case .going = advanceScan(step, budget: step.budget) else { break }
        }
        evictExcess()
        return state.withLock { $0.eviction.isWalking || $0.eviction.hasVictims(limit: $0.config.maxDiskSize) }
    }

    /// Closes the directory of an abandoned walk. (A step that is running detects this itself.)
    func dropScan() {
        scan.withLockIfFree { running in
            guard let number = running?.number else { return }
            if state.withLock({ !$0.eviction.isWalking(number) }) { running = nil }
        }
    }

    private func evictExcess() {
        for _ in 0..<Self.evictionsPerCall {
            let (victims, type) = state.withLock { state in
                (state.eviction.victims(limit: state.config.maxDiskSize), state.config.diskCacheExpireType)
            }
            guard !victims.isEmpty else { return }
            var count = 0
            for victim in victims { if case .removed = evict(victim, by: type) { count += 1 } }
            state.withLock { $0.statistics.evictedCount += count }
        }
    }

    /// Performs a step of a walk, or begins it.
    @discardableResult
    func advanceScan(_ step: RollingEviction.Step, budget: Int) -> ScanProgress {
        var progress = ScanProgress.none
        scan.withLockIfFree { running in
            do throws(SystemCallError) {
                progress = try advance(&running, step, budget: budget)
            } catch {
                running = nil
                if error.isAbsence {
                    state.withLock { $0.eviction.finish(EntryTable(), walk: step.walk) }
                    progress = .finished(looks: 0)
                } else {
                    note(error)
                    state.withLock { $0.eviction.abandon(walk: step.walk) }
                }
            }
        }
        return progress
    }

    private func advance(
        _ running: inout RunningScan?,
        _ step: RollingEviction.Step,
        budget: Int
    ) throws(SystemCallError) -> ScanProgress {
        // The step may be of a walk that has ended since, and another may be running.
        guard state.withLock({ $0.eviction.isWalking(step.walk) }) else { return .none }
        var current: RunningScan
        if let running, running.number == step.walk {
            current = running
        } else {
            let type = config.diskCacheExpireType
            let walk = try DirectoryWalk(path: path, calls: calls, in: existingDirectory(), once: true)
            current = RunningScan(number: step.walk, type: type, walk: walk)
        }
        running = nil
        var batch = EntryTable()
        let isThrough = try collect(current.walk, by: current.type, budget: budget, into: &batch)
        guard state.withLock({ $0.eviction.count(batch, walk: step.walk) }) else { return .none }
        current.found.append(contentsOf: batch)
        guard isThrough else {
            running = current
            return .going
        }
        guard !current.walk.isReplaced else {
            state.withLock { $0.eviction.abandon(walk: step.walk) }
            return .none
        }
        current.found.keepOldest(until: state.withLock { $0.eviction.wantedCandidates(limit: $0.config.maxDiskSize) })
        state.withLock { $0.eviction.finish(current.found, walk: step.walk) }
        return .finished(looks: batch.count)
    }

    /// Adds the next items of a walk to a table; returns whether it has reached the end. Files that are not entries are skipped
    /// faster, so they count for a quarter.
    private func collect(
        _ walk: DirectoryWalk,
        by type: ImageCacheConfig.ExpireType,
        budget: Int,
        into table: inout EntryTable
    ) throws(SystemCallError) -> Bool {
        let now = nowNanoseconds()
        var quarters = budget * 4
        while quarters > 0 {
            guard let item = try walk.next() else { return true }
            guard let status = item.entryStatus() else {
                quarters -= 1
                continue
            }
            quarters -= 4
            let (time, mark) = times(of: item, status, by: type, now: now)
            table.append(item.name, time: time, mark: mark, size: status.allocatedSize)
        }
        return false
    }

    func allEntries(
        of directory: DirectoryHandle,
        by type: ImageCacheConfig.ExpireType
    ) throws(SystemCallError) -> EntryTable {
        var table = EntryTable()
        let walk = try DirectoryWalk(path: path, calls: calls, in: directory, once: true)
        while try !collect(walk, by: type, budget: 1 << 16, into: &table) {}
        return table
    }
}

extension DiskCache {
    /// The number of entries. Foreign files and files being written do not count. Cost: a walk through the directory.
    public var totalCount: Int { usage().count }

    /// The total size of all entries' files in bytes. Foreign files and files being written do not count. Cost: a walk through the
    /// directory.
    public var totalSize: Int { usage().size }

    /// Returns the number of entries and the total size of their files in bytes, from one walk through the directory: 2 µs per
    /// entry.
    public func usage() -> (count: Int, size: Int) {
        var count = 0
        var size = 0
        guard let directory = usableDirectory() else { return (0, 0) }
        scanning(directory).forEachEntry(once: true) { _, status in
            count += 1
            size += status.length
            return true
        }
        return (count, size)
    }

    /// Returns all entries, in no order; see ``forEachEntry(_:)``.
    package func entries() -> [DiskCacheEntry] {
        var entries: [DiskCacheEntry] = []
        forEachEntry { entries.append($0) }
        return entries
    }

    /// Calls `body` with every entry, in no order. Opens each file to read its key, about 10 µs per entry; does not verify the bytes
    /// and does not set access times. Files that are not entries are skipped. An entry that stays is passed; on tmpfs perhaps more
    /// than once, if others are removed meanwhile.
    public func forEachEntry(_ body: (DiskCacheEntry) -> Void) {
        guard let directory = usableDirectory() else { return }
        let reader = EntryReader(calls: calls, directory: directory)
        scanning(directory).forEachEntry { item, status in
            guard let found = reader.trailer(of: item.string) else { return true }
            body(
                DiskCacheEntry(
                    key: found.trailer.key,
                    path: directory.path(of: item.string),
                    byteCount: found.footer.bodyLength,
                    allocatedSize: status.allocatedSize,
                    created: Date(timeIntervalSince1970: Double(found.footer.created) / 1e9),
                    modified: Date(timeIntervalSince1970: status.st_mtim.seconds),
                    accessed: Date(timeIntervalSince1970: status.st_atim.seconds),
                    validators: found.trailer.validators
                )
            )
            return true
        }
    }

    /// Reads every entry in full and returns the damaged ones: torn, changed, or with a file name that does not match their key.
    ///
    /// - Parameter removingDamaged: true to remove damaged entries.
    public func verify(removingDamaged: Bool = false) -> [DamagedDiskCacheEntry] {
        var damaged: [DamagedDiskCacheEntry] = []
        guard let directory = usableDirectory() else { return [] }
        let reader = EntryReader(calls: calls, directory: directory)
        scanning(directory).forEachEntry { item, _ in
            let name = item.string
            let file = directory.path(of: name)
            func note(_ reason: String, _ status: stat?) {
                let isRemoved = removingDamaged && status.map { removeDamaged(name, $0) } ?? false
                damaged.append(DamagedDiskCacheEntry(path: file, reason: reason, isRemoved: isRemoved))
            }
            switch reader.read(name, key: nil) {
            case .entry(let entry) where CacheFileName(key: entry.trailer.key).string != name:
                note("it contains the entry of another key, \(entry.trailer.key)", entry.status)
            case .damaged(let status, let reason): note(reason, status)
            case .failed(let error): note(error.description, nil)
            case .entry, .absent, .foreign: break
            }
            return true
        }
        return damaged
    }
}
