import Glibc

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
            pass.walk = try DirectoryWalk(path: path, calls: calls, in: existingDirectory())
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
