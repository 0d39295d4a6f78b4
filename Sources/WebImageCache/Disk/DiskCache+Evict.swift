import Glibc

extension DiskCache {
    enum Eviction {
        /// It is gone; the disk space that came free.
        case removed(Int)
        /// It was gone already.
        case vanished
        /// It was used since, or cannot be removed.
        case kept
    }

    /// Removes an entry that a walk found, unless it has been read or stored since.
    func evict(_ entry: ScannedEntry, by type: ImageCacheConfig.ExpireType) -> Eviction {
        let eviction = stripe(of: entry.name).withLock { _ -> Eviction in
            guard let directory = usableDirectory(), let status = entryStatus(entry.name, in: directory) else {
                return .vanished
            }
            // The time of creation does not change unless the file does.
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

    /// Tells the size limit that a file is gone.
    func didFree(_ size: Int, name: String) {
        let tag = RollingEviction.tag(name)
        state.withLock { $0.eviction.didFree(size, name: tag) }
    }

    /// The time of an entry that counts, in nanoseconds since 1970, and the time that tells whether it has been used since.
    /// A time in the future, which only a clock that was set back can have left, counts as now, and is set right.
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

    /// When the bytes of an entry were stored; nil when the file does not say.
    private func created(_ item: DirectoryWalk.Item) -> Int64? {
        EntryReader(calls: calls, directory: state.withLock { $0.directory }).trailer(of: item.string)?.footer.created
    }

    /// Sets a time that lies in the future to now, so that it does not keep its entry for ever.
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

    /// When the disk is full: removes the oldest entries until a sixteenth of the cache and twice `byteCount` have come
    /// free. False when there was nothing to remove, or when all entries together are not enough. Called with a stripe
    /// held, so it takes none. Cost: a walk through the directory, which frees enough for many stores.
    func makeRoom(for byteCount: Int) -> Bool {
        sweepTemporaryFiles()
        guard let directory = usableDirectory(),
            var entries = try? allEntries(of: directory, by: config.diskCacheExpireType)
        else { return false }
        let total = entries.totalSize
        // What would not even fit without the other entries must not cost them.
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

    /// Bytes that are free on the file system for this user.
    private func freeSpace(_ directory: DirectoryHandle) -> Int {
        var status = statvfs()
        guard fstatvfs(directory.descriptor, &status) == 0 else { return 0 }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        // Little enough to be added to.
        return free.overflow ? 1 << 60 : Int(min(free.partialValue, 1 << 60))
    }
}
