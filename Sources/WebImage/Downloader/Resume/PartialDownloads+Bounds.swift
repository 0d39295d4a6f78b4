import Glibc

/// What is kept, and what goes. On the store's queue.
extension PartialDownloads {
    /// Reads which parts there are; those that are too old are removed.
    func readDirectory() {
        let now = clock.wallTime()
        let isExpired = expiry(now: now)
        var sizes: [String: Int] = [:]
        forEachPart { item, status in
            if isExpired(status.st_mtim.seconds) {
                unlinkat(item.directory, item.cString, 0)
                return
            }
            sizes[item.string] = status.length
            // Only a clock that was set back can have left that; it must not keep the part for ever.
            if status.st_mtim.seconds > now + 60 {
                let time = timespec(seconds: now)
                utimensat(item.directory, item.cString, [time, time], AT_SYMLINK_NOFOLLOW)
            }
        }
        let time = clock.monotonicNanoseconds()
        state.withLock { state in
            // What is being written counts with what it was given room for, on disk or not yet.
            for name in state.active { sizes[name] = max(sizes[name] ?? 0, state.sizes?[name] ?? 0) }
            state.sizes = sizes
            state.urls = Set(sizes.keys.compactMap(PartialKey.urlHash))
            state.readAt = time
            state.isReading = false
        }
    }

    /// Reads the directory and makes what is in it keep to the bounds.
    func tidyUp() {
        readDirectory()
        _ = evict(except: nil)
    }

    /// Whether so many bytes of a part, its head included, may be kept at all.
    func admits(byteCount: Int) -> Bool { byteCount <= limits.byteCount }

    /// Sees to it that a part may have so many bytes, its head included; the oldest others go for it. False when it is too big all
    /// the same.
    func makeRoom(for name: String, byteCount: Int) -> Bool {
        if state.withLock({ $0.sizes == nil }) { readDirectory() }
        let (total, limit) = state.withLock { state -> (Int, Int) in
            state.sizes?[name] = byteCount
            if let url = PartialKey.urlHash(inFileName: name) { state.urls.insert(url) }
            return ((state.sizes ?? [:]).values.reduce(0, +), state.limits.byteCount)
        }
        guard total > limit else { return true }
        readDirectory()
        return evict(except: name)
    }

    /// Tells of the time of a file's last write whether the file is to go. None is while a jump of the clock has just been
    /// noticed, as for entries of the cache.
    func expiry(now: Double) -> (_ time: Double) -> Bool {
        let (age, hasJumped) = state.withLock { ($0.limits.age, $0.jumps.checkJump(clock)) }
        return { !hasJumped && $0 < now - max(age, 0) }
    }

    /// Removes the oldest parts that nobody in here writes. Whether that was enough.
    private func evict(except name: String?) -> Bool {
        let (total, limit, active) = state.withLock { state in
            ((state.sizes ?? [:]).values.reduce(0, +), max(state.limits.byteCount, 0), state.active)
        }
        var excess = total - limit
        guard excess > 0 else { return true }
        var others: [(name: String, time: Double, size: Int)] = []
        forEachPart { item, status in
            others.append((item.string, status.st_mtim.seconds, status.length))
        }
        others.removeAll { active.contains($0.name) || $0.name == name }
        others.sort { $0.time < $1.time }
        guard let directory = try? CacheDirectory(path: directory).open() else { return false }
        for other in others where excess > 0 {
            directory.remove(other.name)
            noteRemoval(of: other.name)
            excess -= other.size
        }
        return excess <= 0
    }

    private func forEachPart(_ body: (DirectoryWalk.Item, stat) -> Void) {
        guard let place = try? CacheDirectory(path: directory).open() else { return }
        DirectoryScan(path: directory, calls: calls, directory: place).forEach { item in
            if PartialKey.isFileName(item.name), let status = item.status(), status.st_mode & S_IFMT == S_IFREG {
                body(item, status)
            }
            return true
        }
    }
}
