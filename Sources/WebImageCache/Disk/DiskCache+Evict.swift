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
        let eviction = stripe(of: entry.name).withLock { _ -> Eviction in
            guard let directory = usableDirectory(), let status = entryStatus(entry.name, in: directory) else {
                return .vanished
            }
            // The creation time does not change unless the file does.
            let now = type == .creationDate ? status.st_mtim.nanoseconds : Self.time(status, by: type)
            guard now <= entry.time || now == entry.changeMark else { return .kept }
            switch directory.remove(entry.name) {
            case 0: return .removed(status.allocatedSize)
            case ENOENT: return .vanished
            default: return .kept
            }
        }
        if case .removed(let freed) = eviction { didFree(freed, name: entry.name) }
        return eviction
    }

    /// Reports a removed file to the size limit.
    func didFree(_ size: Int, name: String) {
        let tag = RollingEviction.tag(name)
        state.withLock { $0.eviction.didFree(size, name: tag) }
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
            guard directory.remove(entry.name) == 0 else { continue }
            didFree(entry.allocatedSize, name: entry.name)
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
