import Glibc

extension DiskCache {
    /// Removes what is older than ``ImageCacheConfig/maxDiskAge``, then, if the rest takes more than
    /// ``ImageCacheConfig/maxDiskSize``, the oldest until it takes less than half of that. Also removes what writers that
    /// died left behind. Files that cannot be removed are left out.
    ///
    /// - Parameter timeLimit: seconds after which it stops where it is; nil for no limit.
    @discardableResult
    public func removeExpiredData(timeLimit: Double? = nil) -> DiskCacheCleanup {
        var cleanup = DiskCacheCleanup()
        let (config, isRefused, hasJumped) = state.withLock { state in
            (state.config, state.refusal != nil, state.jumps.checkJump(clock))
        }
        guard !isRefused else { return cleanup }
        let deadline = Deadline(clock, seconds: timeLimit)
        sweepTemporaryFiles()
        guard let entries = scan(by: config.diskCacheExpireType, until: deadline) else {
            cleanup.isComplete = false
            return cleanup
        }
        let plan = ExpiryPlan(
            entries,
            now: nowNanoseconds(),
            maxAge: hasJumped ? -1 : config.maxDiskAge,
            maxSize: config.maxDiskSize
        )
        for entry in plan.expired {
            guard !deadline.hasPassed else {
                cleanup.isComplete = false
                break
            }
            guard case .removed(let freed) = evict(entry, by: config.diskCacheExpireType) else { continue }
            cleanup.expiredCount += 1
            cleanup.freedByteCount += freed
        }
        if let target = plan.trimsBelow { trim(plan, below: target, until: deadline, config, &cleanup) }
        state.withLock { state in
            state.statistics.expiredCount += cleanup.expiredCount
            state.statistics.evictedCount += cleanup.trimmedCount
            state.eviction.reset()
        }
        return cleanup
    }

    private func trim(
        _ plan: ExpiryPlan,
        below target: Int,
        until deadline: Deadline,
        _ config: ImageCacheConfig,
        _ cleanup: inout DiskCacheCleanup
    ) {
        var size = plan.remainingSize
        for entry in plan.remaining where size >= target {
            guard !deadline.hasPassed else {
                cleanup.isComplete = false
                return
            }
            switch evict(entry, by: config.diskCacheExpireType) {
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

    private enum Eviction {
        /// It is gone; the disk space that came free.
        case removed(Int)
        /// It was gone already.
        case vanished
        /// It was used since, or cannot be removed.
        case kept
    }

    /// Removes an entry that a scan found, unless it has been read or stored since.
    private func evict(_ entry: ScannedEntry, by type: ImageCacheConfig.ExpireType) -> Eviction {
        stripe(of: entry.name).withLock { _ in
            guard let status = status(ofName: entry.name) else { return .vanished }
            // The time of creation does not change unless the file does.
            let now = type == .creationDate ? status.st_mtim.nanoseconds : Self.time(status, by: type)
            guard now <= entry.time || now == entry.changeMark else { return .kept }
            if unlink(path(ofName: entry.name)) == 0 { return .removed(status.allocatedSize) }
            return errno == ENOENT ? .vanished : .kept
        }
    }

    /// All entries with the time asked for; nil when the deadline passed or the directory cannot be read. A time in the future, which only a clock that was
    /// set back can have left, counts as now.
    private func scan(by type: ImageCacheConfig.ExpireType, until deadline: Deadline = .none) -> [ScannedEntry]? {
        var entries: [ScannedEntry] = []
        let now = nowNanoseconds()
        var isComplete = true
        let failure = DirectoryScan(path: path, calls: calls).forEachEntry { item, status in
            if entries.count & 255 == 255, deadline.hasPassed {
                isComplete = false
                return false
            }
            var time = Self.time(status, by: type)
            if type == .creationDate { time = created(item.string) ?? time }
            let mark = type == .creationDate ? status.st_mtim.nanoseconds : time
            if time > now &+ 60_000_000_000 {
                time = now
                repairTime(item, by: type, to: now)
            }
            entries.append(
                ScannedEntry(
                    name: item.string,
                    allocatedSize: status.allocatedSize,
                    size: Int(status.st_size),
                    time: time,
                    changeMark: mark
                )
            )
            return true
        }
        if let failure {
            note(failure)
            return nil
        }
        return isComplete ? entries : nil
    }

    /// When the bytes of an entry were stored; nil when the file does not say.
    private func created(_ name: String) -> Int64? {
        let reader = EntryReader(calls: calls)
        guard let (file, status) = try? reader.open(path(ofName: name)) else { return nil }
        defer { _ = calls.close(file) }
        return reader.trailer(file, status: status)?.trailer.created
    }

    /// Sets a time that lies in the future to now, so that it does not keep its entry for ever.
    private func repairTime(_ item: DirectoryScan.Item, by type: ImageCacheConfig.ExpireType, to time: Int64) {
        let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)  // UTIME_OMIT
        let now = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        switch type {
        case .accessDate: utimensat(item.directory, item.cString, [now, omitted], AT_SYMLINK_NOFOLLOW)
        case .modificationDate: utimensat(item.directory, item.cString, [omitted, now], AT_SYMLINK_NOFOLLOW)
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
}

extension DiskCache {
    /// After a store: removes the oldest entries as long as the limit is exceeded.
    func keepSizeLimit() {
        // Each round either removes something, or scans; scanning twice in a row means that nothing can be removed.
        var scans = 0
        while scans < 2 {
            let (step, config) = state.withLock { ($0.eviction.next(limit: $0.config.maxDiskSize), $0.config) }
            switch step {
            case .nothing:
                return
            case .scan:
                scans += 1
                let entries = scan(by: config.diskCacheExpireType)
                state.withLock { $0.eviction.install(entries, limit: config.maxDiskSize) }
                // The next store tries again.
                if entries == nil { return }
            case .evict(let victims):
                for victim in victims {
                    guard case .removed(let freed) = evict(victim, by: config.diskCacheExpireType) else { continue }
                    scans = 0
                    state.withLock { state in
                        state.eviction.didFree(freed)
                        state.statistics.evictedCount += 1
                    }
                }
            }
        }
    }

    /// When the disk is full: removes the oldest entries until a sixteenth of the cache and twice `byteCount` have come
    /// free. False when there was nothing to remove, or when all entries together are not enough. Called with a stripe
    /// held, so it takes none.
    func makeRoom(for byteCount: Int) -> Bool {
        sweepTemporaryFiles()
        let type = config.diskCacheExpireType
        guard let entries = scan(by: type)?.sorted(by: { $0.time < $1.time }) else { return false }
        let total = entries.reduce(0) { $0 + $1.allocatedSize }
        // What would not even fit without the other entries must not cost them.
        guard total + freeSpace() >= byteCount else { return false }
        var wanted = max(total / 16, byteCount.multipliedReportingOverflow(by: 2).partialValue)
        var count = 0
        for entry in entries where wanted > 0 || count < 8 {
            guard unlink(path(ofName: entry.name)) == 0 else { continue }
            wanted -= entry.allocatedSize
            count += 1
        }
        state.withLock { state in
            state.statistics.evictedCount += count
            state.eviction.reset()
        }
        return count > 0
    }

    /// Bytes that are free on the file system for this user.
    private func freeSpace() -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return 0 }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        )
    }
}

/// A time on the monotonic clock by which to stop.
struct Deadline: Sendable {
    private let clock: ClockSource?
    private let end: UInt64

    static let none = Deadline(.system, seconds: nil)

    init(_ clock: ClockSource, seconds: Double?) {
        self.clock = seconds == nil ? nil : clock
        let nanoseconds = min(max((seconds ?? 0) * 1e9, 0), 1e18)
        end = clock.monotonicNanoseconds() &+ UInt64(nanoseconds)
    }

    var hasPassed: Bool { clock.map { $0.monotonicNanoseconds() >= end } ?? false }
}
