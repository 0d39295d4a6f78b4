import Glibc

/// Which entries a pass for expired ones removes.
struct ExpiryPlan: Sendable {
    var type = ImageCacheConfig.ExpireType.accessDate
    /// Seconds; negative for never.
    var maxAge: Double
    /// Bytes; 0 for no limit.
    var maxSize: Int
    /// Nanoseconds since 1970.
    var now: Int64
    /// Whether nothing counts as too old, because the clock is not to be believed.
    var ignoresAge = false
    /// True removes only what exceeds `maxSize`; false trims to half of it.
    var trimsExactly = false

    /// Whether a pass that was begun for the other goes on for this.
    func hasSettings(of other: ExpiryPlan) -> Bool {
        type == other.type && maxAge == other.maxAge && maxSize == other.maxSize
    }

    /// Whether an entry of this time, in nanoseconds since 1970, is older than allowed, or just as old.
    func isExpired(_ time: Int64) -> Bool {
        guard maxAge >= 0, !ignoresAge else { return false }
        let age = Int64(exactly: (maxAge * 1e9).rounded()) ?? .max
        let (threshold, overflow) = now.subtractingReportingOverflow(age)
        return !overflow && time <= threshold
    }

    func exceeds(_ size: Int) -> Bool { maxSize > 0 && size > maxSize }

    /// What the entries' size is brought below when it exceeds the limit. Unless that is the size of all of them, older ones may be
    /// among the others, so no more goes than has to.
    func trimsBelow(isWhole: Bool) -> Int { isWhole && !trimsExactly ? maxSize / 2 : maxSize + 1 }
}

/// A pass through the directory, which the next can go on with.
struct ExpiryPass {
    var plan: ExpiryPlan
    var deadline: Deadline
    var cleanup = DiskCacheCleanup()
    /// Nil when it has come to its end.
    var walk: DirectoryWalk?
    /// What it found and left.
    var remaining = EntryTable()

    /// Notes whether there is time left; false when there is none.
    mutating func hasTime() -> Bool {
        cleanup.isComplete = !deadline.hasPassed
        return cleanup.isComplete
    }
}

extension DiskCache {
    /// Entries that are looked at between two looks at the clock, less one.
    private static let clockMask = 63

    /// Removes what is older than ``ImageCacheConfig/maxDiskAge``, then, if the rest takes more than
    /// ``ImageCacheConfig/maxDiskSize``, the oldest until it takes less than half of that. Also removes what writers that
    /// died left behind. Files that cannot be removed are left out. Cost: 2 µs per entry, more for each that goes.
    ///
    /// A pass that is out of time has removed what it saw expired, and, where what it saw exceeds the size limit alone, the
    /// oldest of that as far as the time allowed. The next pass with a time limit goes on there.
    ///
    /// - Parameter timeLimit: seconds after which it stops where it is; nil for no limit.
    @discardableResult
    public func removeExpiredData(timeLimit: Double? = nil) -> DiskCacheCleanup {
        removeExpiredData(timeLimit: timeLimit, trimsExactly: false)
    }

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
            // Where nothing is there is nothing to remove, nor where nothing may be touched.
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

    /// Takes up the pass that was left off, or begins a new one. Who comes while another thread is at one makes one of his own.
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
        // What has expired since it was seen, or was not removed for want of time.
        while let time = pass.remaining.oldestTime(), pass.plan.isExpired(time) {
            guard pass.hasTime(), let entry = pass.remaining.popOldest() else { return }
            expire(entry, &pass)
        }
        trim(&pass)
    }

    /// Walks on through the directory and removes what has expired. False when it stops before the end: time is over, or half
    /// of it and what has been seen is too much already.
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
                // Another process trims as well: without this the two would remove twice as much.
                size -= entry.allocatedSize
            case .kept:
                break
            }
        }
    }
}
