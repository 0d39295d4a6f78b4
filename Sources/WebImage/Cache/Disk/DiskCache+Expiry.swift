import Glibc

/// How far a pass through the directory has come, for the next to go on there.
struct ExpiryPass {
    /// What it was begun for.
    struct Settings: Sendable, Hashable {
        let type: ImageCacheConfig.ExpireType
        let maxAge: Double
        let maxSize: Int

        init(_ config: ImageCacheConfig) {
            type = config.diskCacheExpireType
            maxAge = config.maxDiskAge
            maxSize = config.maxDiskSize
        }
    }

    let settings: Settings
    /// Nil when it has come to its end.
    var walk: DirectoryWalk?
    /// What it found and left.
    var remaining = EntryTable()
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
        var cleanup = DiskCacheCleanup()
        let (config, hasJumped) = state.withLock { state in (state.config, state.jumps.checkJump(clock)) }
        let deadline = Deadline(clock, seconds: timeLimit)
        let plan = ExpiryPlan(
            now: nowNanoseconds(),
            maxAge: hasJumped ? -1 : config.maxDiskAge,
            maxSize: config.maxDiskSize
        )
        do throws(SystemCallError) {
            var pass = try beginPass(ExpiryPass.Settings(config), goesOn: timeLimit != nil)
            try run(&pass, plan, deadline, &cleanup)
            if !cleanup.isComplete { expiryPass.withLock { $0 = pass } }
        } catch {
            // Where nothing is there is nothing to remove, nor where nothing may be touched.
            if !error.isAbsence {
                note(error)
                cleanup.isComplete = error.refusal != nil
            }
        }
        state.withLock { state in
            state.statistics.expiredCount += cleanup.expiredCount
            state.statistics.evictedCount += cleanup.trimmedCount
        }
        return cleanup
    }

    /// The pass that was left off, or a new one. Who comes while another thread is at one makes one of his own.
    private func beginPass(_ settings: ExpiryPass.Settings, goesOn: Bool) throws(SystemCallError) -> ExpiryPass {
        let saved = expiryPass.withLock { pass in
            defer { pass = nil }
            return pass
        }
        if goesOn, let saved, saved.settings == settings { return saved }
        let walk = try DirectoryWalk(path: path, calls: calls, in: existingDirectory())
        return ExpiryPass(settings: settings, walk: walk)
    }

    private func run(
        _ pass: inout ExpiryPass,
        _ plan: ExpiryPlan,
        _ deadline: Deadline,
        _ cleanup: inout DiskCacheCleanup
    ) throws(SystemCallError) {
        while try !look(&pass, plan, deadline, &cleanup) {
            trim(&pass, plan, deadline, &cleanup)
            cleanup.isComplete = !deadline.hasPassed
            guard cleanup.isComplete else { return }
        }
        // What has expired since it was seen, or was not removed for want of time.
        while let time = pass.remaining.oldestTime(), plan.isExpired(time) {
            cleanup.isComplete = !deadline.hasPassed
            guard cleanup.isComplete, let entry = pass.remaining.popOldest() else { return }
            expire(entry, by: pass.settings.type, &cleanup)
        }
        trim(&pass, plan, deadline, &cleanup)
    }

    /// Walks on through the directory and removes what has expired. False when it stops before the end: time is over, or half
    /// of it and what has been seen is too much already.
    private func look(
        _ pass: inout ExpiryPass,
        _ plan: ExpiryPlan,
        _ deadline: Deadline,
        _ cleanup: inout DiskCacheCleanup
    ) throws(SystemCallError) -> Bool {
        guard let walk = pass.walk else { return true }
        let type = pass.settings.type
        let wallTime = clock.wallTime()
        let now = nowNanoseconds()
        var looks = 0
        while let item = try walk.next() {
            looks += 1
            var mustStop =
                looks & Self.clockMask == 0
                && (deadline.hasPassed || plan.exceeds(pass.remaining.totalSize) && deadline.isHalfOver)
            if !item.sweep(now: wallTime), let status = item.entryStatus() {
                let (time, mark) = times(of: item, status, by: type, now: now)
                let size = status.allocatedSize
                if plan.isExpired(time), !deadline.hasPassed {
                    let entry = ScannedEntry(name: item.string, allocatedSize: size, time: time, changeMark: mark)
                    expire(entry, by: type, &cleanup)
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

    private func expire(
        _ entry: ScannedEntry,
        by type: ImageCacheConfig.ExpireType,
        _ cleanup: inout DiskCacheCleanup
    ) {
        guard case .removed(let freed) = evict(entry, by: type) else { return }
        cleanup.expiredCount += 1
        cleanup.freedByteCount += freed
    }

    private func trim(
        _ pass: inout ExpiryPass,
        _ plan: ExpiryPlan,
        _ deadline: Deadline,
        _ cleanup: inout DiskCacheCleanup
    ) {
        var size = pass.remaining.totalSize
        guard plan.exceeds(size) else { return }
        let target = plan.trimsBelow(isWhole: pass.walk == nil)
        while size >= target {
            guard !deadline.hasPassed else {
                cleanup.isComplete = false
                return
            }
            guard let entry = pass.remaining.popOldest() else { return }
            switch evict(entry, by: pass.settings.type) {
            case .removed(let freed):
                size -= entry.allocatedSize
                cleanup.trimmedCount += 1
                cleanup.freedByteCount += freed
            case .vanished:
                // Another process trims as well: without this the two would remove twice as much.
                size -= entry.allocatedSize
            case .kept:
                break
            }
        }
    }
}
