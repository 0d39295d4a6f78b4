import Glibc

extension DiskCache {
    enum Eviction {
        /// The entry was removed; the freed disk space.
        case removed(Int)
        /// The entry had already been removed.
        case vanished
        /// The entry was used since, or cannot be removed.
        case kept
    }

    /// Removes an entry that a walk found, unless it was read or stored since.
    func evict(_ entry: ScannedEntry, by type: ImageCacheConfig.ExpireType) -> Eviction {
        stripe(of: entry.name).withLock { _ in
            guard let directory = usableDirectory(), let status = entryStatus(entry.name, in: directory) else {
                return .vanished
            }
            // The creation time does not change unless the file does.
            let now = type == .creationDate ? status.st_mtim.nanoseconds : Self.time(status, by: type)
            guard now <= entry.time || now == entry.changeMark else { return .kept }
            switch remove(entry.name, status.allocatedSize, in: directory) {
            case 0: return .removed(status.allocatedSize)
            case ENOENT: return .vanished
            default: return .kept
            }
        }
    }

    /// Removes the file of an entry, and reports it to the size limit: before it is gone, because a walk that ended in between would
    /// not have found it, and its size would be subtracted twice. Returns 0 or the error number.
    func remove(_ name: String, _ size: Int, in directory: DirectoryHandle) -> Int32 {
        let tag = RollingEviction.tag(name)
        state.withLock { $0.eviction.didFree(size, name: tag) }
        let result = directory.remove(name)
        if result != 0 { state.withLock { $0.eviction.didKeep(size, name: tag) } }
        return result
    }

    /// Returns the entry's relevant time, in nanoseconds since 1970, and the time that shows whether it was used since. A time in
    /// the future, which results only from a clock that was set back, counts as now and is corrected.
    func times(
        of item: DirectoryWalk.Item,
        _ status: stat,
        by type: ImageCacheConfig.ExpireType,
        now: Int64
    ) -> (time: Int64, mark: Int64) {
        var time = Self.time(status, by: type)
        if type == .creationDate { time = created(item) ?? time }
        let mark = type == .creationDate ? status.st_mtim.nanoseconds : time
        guard time > now &+ 60_000_000_000 else { return (time, mark) }
        repairTime(item, by: type, to: now)
        return (now, mark)
    }

    /// Returns the time at which the bytes of an entry were stored; nil if the file does not record it.
    private func created(_ item: DirectoryWalk.Item) -> Int64? {
        EntryReader(calls: calls, directory: state.withLock { $0.directory }).trailer(of: item.string)?.footer.created
    }

    /// Sets a time in the future to now, so that it does not keep its entry forever.
    private func repairTime(_ item: DirectoryWalk.Item, by type: ImageCacheConfig.ExpireType, to time: Int64) {
        let now = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        switch type {
        case .accessDate: utimensat(item.directory, item.cString, [now, .omitted], AT_SYMLINK_NOFOLLOW)
        case .modificationDate: utimensat(item.directory, item.cString, [.omitted, now], AT_SYMLINK_NOFOLLOW)
        case .creationDate, .changeDate: break
        }
    }

    static func time(_ status: stat, by type: ImageCacheConfig.ExpireType) -> Int64 {
        switch type {
        case .accessDate: status.st_atim.nanoseconds
        case .modificationDate, .creationDate: status.st_mtim.nanoseconds
        case .changeDate: status.st_ctim.nanoseconds
        }
    }

    /// Evicts the oldest entries when the disk is full, until a sixteenth of the cache and twice `byteCount` are free. False if
    /// there was nothing to remove, or if removing all entries would not be enough. Called with a stripe held, so it takes none.
    /// Cost: a walk through the directory, which frees enough for many stores.
    func makeRoom(for byteCount: Int) -> Bool {
        sweepTemporaryFiles()
        guard let directory = usableDirectory(),
            var entries = try? allEntries(of: directory, by: config.diskCacheExpireType)
        else { return false }
        let total = entries.totalSize
        // Data that would not fit even without the other entries must not evict them.
        guard total + freeSpace(directory) >= byteCount else { return false }
        var wanted = max(total / 16, byteCount.multipliedReportingOverflow(by: 2).partialValue)
        var count = 0
        while wanted > 0 || count < 8, let entry = entries.popOldest() {
            guard remove(entry.name, entry.allocatedSize, in: directory) == 0 else { continue }
            wanted -= entry.allocatedSize
            count += 1
        }
        state.withLock { $0.statistics.evictedCount += count }
        return count > 0
    }

    /// Returns the number of bytes on the file system that are free for this user.
    private func freeSpace(_ directory: DirectoryHandle) -> Int {
        var status = statvfs()
        guard fstatvfs(directory.descriptor, &status) == 0 else { return 0 }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        // Small enough to be added to.
        return free.overflow ? 1 << 60 : Int(min(free.partialValue, 1 << 60))
    }
}

/// The settings of an expiry pass.
struct ExpiryPlan: Sendable {
    var type = ImageCacheConfig.ExpireType.accessDate
    /// The maximum age in seconds; negative for none.
    var maxAge: Double
    /// The maximum size in bytes; 0 for none.
    var maxSize: Int
    /// Nanoseconds since 1970.
    var now: Int64
    /// True if no entry counts as too old, because the clock is suspicious.
    var ignoresAge = false
    /// True removes only what exceeds `maxSize`; false trims to half of it.
    var trimsExactly = false

    /// Returns whether a pass that began with the other plan can resume with this one.
    func hasSettings(of other: ExpiryPlan) -> Bool {
        type == other.type && maxAge == other.maxAge && maxSize == other.maxSize
    }

    /// Returns whether an entry with this time, in nanoseconds since 1970, has reached or exceeded the maximum age.
    func isExpired(_ time: Int64) -> Bool {
        guard maxAge >= 0, !ignoresAge else { return false }
        let age = Int64(exactly: (maxAge * 1e9).rounded()) ?? .max
        let (threshold, overflow) = now.subtractingReportingOverflow(age)
        return !overflow && time <= threshold
    }

    func exceeds(_ size: Int) -> Bool { maxSize > 0 && size > maxSize }

    /// Returns the size to trim below when the limit is exceeded. Unless all entries are known, older ones may be among the rest,
    /// so only the excess is removed.
    func trimsBelow(isWhole: Bool) -> Int { isWhole && !trimsExactly ? maxSize / 2 : maxSize + 1 }
}

/// A pass through the directory that the next pass can resume.
struct ExpiryPass {
    var plan: ExpiryPlan
    var deadline: Deadline
    var cleanup = DiskCacheCleanup()
    /// Nil after the end of the directory.
    var walk: DirectoryWalk?
    /// The entries that were found and kept.
    var remaining = EntryTable()

    /// Checks the deadline and records the result; false if no time is left.
    mutating func hasTime() -> Bool {
        cleanup.isComplete = !deadline.hasPassed
        return cleanup.isComplete
    }
}

extension DiskCache {
    /// A bit mask: the clock is read once for this number of entries plus one.
    private static let clockMask = 63

    /// Removes entries older than ``ImageCacheConfig/maxDiskAge``; then, if the rest exceeds ``ImageCacheConfig/maxDiskSize``, the
    /// oldest until the rest takes less than half of the limit. Also removes the temporary files of dead writers. Files that cannot
    /// be removed are skipped. Cost: 2 µs per entry, more for each removal.
    ///
    /// A pass that runs out of time has removed the expired entries that it saw, and, if the entries that it saw exceed the size
    /// limit by themselves, the oldest of them as far as time allowed. The next pass with a time limit resumes there.
    ///
    /// - Parameter timeLimit: the time limit in seconds; nil for none.
    @discardableResult
    public func removeExpiredData(timeLimit: Double? = nil) -> DiskCacheCleanup {
        removeExpiredData(timeLimit: timeLimit, trimsExactly: false)
    }

    /// Removes expired entries.
    ///
    /// - Parameter trimsExactly: see ``ExpiryPlan/trimsExactly``.
    @discardableResult
    package func removeExpiredData(timeLimit: Double? = nil, trimsExactly: Bool) -> DiskCacheCleanup {
        let (config, hasJumped) = state.withLock { state in (state.config, state.jumps.checkJump(clock)) }
        let plan = ExpiryPlan(
            type: config.diskCacheExpireType,
            maxAge: config.maxDiskAge,
            maxSize: config.maxDiskSize,
            now: nowNanoseconds(),
            ignoresAge: hasJumped,
            trimsExactly: trimsExactly
        )
        var pass = ExpiryPass(plan: plan, deadline: Deadline(clock, seconds: timeLimit))
        do throws(SystemCallError) {
            try begin(&pass, goesOn: timeLimit != nil)
            try run(&pass)
            if !pass.cleanup.isComplete { expiryPass.withLock { $0 = pass } }
        } catch {
            // A missing directory has nothing to remove, and a refused one must not be touched.
            if !error.isAbsence {
                note(error)
                pass.cleanup.isComplete = error.refusal != nil
            }
        }
        let cleanup = pass.cleanup
        state.withLock { state in
            state.statistics.expiredCount += cleanup.expiredCount
            state.statistics.evictedCount += cleanup.trimmedCount
        }
        return cleanup
    }

    /// Resumes the saved pass, or begins a new one. If another thread is running a pass, this one is separate.
    private func begin(_ pass: inout ExpiryPass, goesOn: Bool) throws(SystemCallError) {
        let saved = expiryPass.withLock { $0.take() }
        if goesOn, let saved, saved.plan.hasSettings(of: pass.plan) {
            (pass.walk, pass.remaining) = (saved.walk, saved.remaining)
        } else {
            pass.walk = try DirectoryWalk(path: path, calls: calls, in: existingDirectory(), once: true)
        }
    }

    private func run(_ pass: inout ExpiryPass) throws(SystemCallError) {
        while try !look(&pass) {
            trim(&pass)
            guard pass.hasTime() else { return }
        }
        // Entries that expired after they were seen, or that were not removed for lack of time.
        while let time = pass.remaining.oldestTime(), pass.plan.isExpired(time) {
            guard pass.hasTime(), let entry = pass.remaining.popOldest() else { return }
            expire(entry, &pass)
        }
        trim(&pass)
    }

    /// Continues the walk and removes expired entries. False if it stops before the end: the time is over, or half of it and the
    /// entries seen so far already exceed the limit.
    private func look(_ pass: inout ExpiryPass) throws(SystemCallError) -> Bool {
        guard let walk = pass.walk else { return true }
        let (plan, deadline) = (pass.plan, pass.deadline)
        let wallTime = clock.wallTime()
        let now = nowNanoseconds()
        var looks = 0
        while let item = try walk.next() {
            looks += 1
            var mustStop =
                looks & Self.clockMask == 0
                && (deadline.hasPassed || plan.exceeds(pass.remaining.totalSize) && deadline.isHalfOver)
            if !item.sweep(now: wallTime), let status = item.entryStatus() {
                let (time, mark) = times(of: item, status, by: plan.type, now: now)
                let size = status.allocatedSize
                if plan.isExpired(time), !deadline.hasPassed {
                    expire(ScannedEntry(name: item.string, allocatedSize: size, time: time, changeMark: mark), &pass)
                } else {
                    mustStop = mustStop || plan.isExpired(time)
                    pass.remaining.append(item.name, time: time, mark: mark, size: size)
                }
            }
            if mustStop { return false }
        }
        if walk.isReplaced { throw SystemCallError(call: "readdir", path: path, number: ESTALE) }
        pass.walk = nil
        return true
    }

    private func expire(_ entry: ScannedEntry, _ pass: inout ExpiryPass) {
        guard case .removed(let freed) = evict(entry, by: pass.plan.type) else { return }
        pass.cleanup.expiredCount += 1
        pass.cleanup.freedByteCount += freed
    }

    private func trim(_ pass: inout ExpiryPass) {
        var size = pass.remaining.totalSize
        guard pass.plan.exceeds(size) else { return }
        let target = pass.plan.trimsBelow(isWhole: pass.walk == nil)
        while size >= target {
            guard pass.hasTime(), let entry = pass.remaining.popOldest() else { return }
            switch evict(entry, by: pass.plan.type) {
            case .removed(let freed):
                size -= entry.allocatedSize
                pass.cleanup.trimmedCount += 1
                pass.cleanup.freedByteCount += freed
            case .vanished:
                // Another process trims as well: without this, both together would remove twice as much.
                size -= entry.allocatedSize
            case .kept:
                break
            }
        }
    }
}
