import FoundationEssentials
import WebImage

extension CacheCommand {
    private struct Stats: Encodable {
        var path: String
        var entries: Int
        var bytes: Int
        var allocated: Int
        var oldest: String?
        var newest: String?
        /// The files of intermediate tiles; nil for a namespace.
        var pyramids: Int?
        var pyramidBytes: Int?
    }

    static func stats(_ cache: DiskCache, _ pyramids: PyramidCache?, json: Bool) -> Int32 {
        var stats = Stats(path: cache.path, entries: 0, bytes: 0, allocated: 0)
        var oldest: Date?
        var newest: Date?
        cache.forEachEntry { entry in
            stats.entries += 1
            stats.bytes += entry.byteCount
            stats.allocated += entry.allocatedSize
            oldest = min(oldest ?? entry.accessed, entry.accessed)
            newest = max(newest ?? entry.accessed, entry.accessed)
        }
        stats.oldest = oldest.map { JSONLine.time($0.timeIntervalSince1970) }
        stats.newest = newest.map { JSONLine.time($0.timeIntervalSince1970) }
        let tiles = pyramids?.usage
        (stats.pyramids, stats.pyramidBytes) = (tiles?.fileCount, tiles?.byteCount)
        if json {
            Terminal.print(JSONLine.text(stats))
        } else {
            let bytes = ByteCount.describe(Int64(stats.bytes))
            let space = ByteCount.describe(Int64(stats.allocated))
            Terminal.print(
                "\(Terminal.plain(stats.path))\n\(stats.entries) entries, \(bytes) of images, \(space) on disk\n"
            )
            if let first = stats.oldest, let last = stats.newest {
                Terminal.print("last used between \(first) and \(last)\n")
            }
            if let pyramids, let tiles, tiles.fileCount > 0 {
                let (count, bytes) = (tiles.fileCount, ByteCount.describe(Int64(tiles.byteCount)))
                Terminal.print("\(Terminal.plain(pyramids.directory))\n\(bytes) of tiles of \(count) huge images\n")
            }
        }
        return ExitStatus.success
    }

    private struct Entry: Encodable {
        var key: String
        var path: String
        var bytes: Int
        var created: String
        var modified: String
        var accessed: String
        /// The HTTP freshness; nil if no response metadata is stored.
        var freshness: Freshness?
    }

    private struct Freshness: Encodable {
        var fresh: Bool
        var ageSeconds: Double
        /// Nil if unknown.
        var lifetimeSeconds: Double?
        var reason: String

        init(_ freshness: HTTPFreshness) {
            fresh = freshness.isFresh
            ageSeconds = Self.rounded(freshness.age)
            lifetimeSeconds = freshness.lifetime.map(Self.rounded)
            reason = freshness.explanation
        }

        /// Rounds to the millisecond, and to a finite number for JSON.
        private static func rounded(_ seconds: Double) -> Double {
            (min(max(seconds, 0), 1e12) * 1000).rounded() / 1000
        }
    }

    /// Returns "fresh for 5 min 3 s", "stale for 12 s", or "-" if no response metadata is stored.
    private static func words(_ freshness: HTTPFreshness?) -> String {
        guard let freshness else { return "-" }
        guard let lifetime = freshness.lifetime else { return freshness.isFresh ? "fresh" : "needs revalidation" }
        if freshness.isFresh { return "fresh for \(DurationFormat.describe(lifetime - freshness.age))" }
        if freshness.age < lifetime { return "needs revalidation" }
        return "stale for \(DurationFormat.describe(freshness.age - lifetime))"
    }

    static func list(_ cache: DiskCache, json: Bool) -> Int32 {
        let now = Date().timeIntervalSince1970
        cache.forEachEntry { entry in
            let freshness = entry.validators?.record?.freshness(now: now)
            if json {
                Terminal.print(
                    JSONLine.text(
                        Entry(
                            key: entry.key,
                            path: entry.path,
                            bytes: entry.byteCount,
                            created: JSONLine.time(entry.created.timeIntervalSince1970),
                            modified: JSONLine.time(entry.modified.timeIntervalSince1970),
                            accessed: JSONLine.time(entry.accessed.timeIntervalSince1970),
                            freshness: freshness.map { Freshness($0) }
                        )
                    )
                )
            } else {
                Terminal.print(
                    "\(JSONLine.time(entry.accessed.timeIntervalSince1970))  "
                        + "\(ByteCount.describe(Int64(entry.byteCount)))  \(words(freshness))  \(Terminal.plain(entry.key))\n"
                )
            }
        }
        return ExitStatus.success
    }

    private struct PathLine: Encodable {
        var source: String
        var path: String
        var exists: Bool
    }

    /// Prints the directory, or the files of sources; a source that is not in the cache is a failure.
    static func path(_ cache: DiskCache, _ words: [String], json: Bool) throws -> Int32 {
        guard !words.isEmpty else {
            Terminal.print(
                json ? JSONLine.text(["path": cache.path]) : Terminal.name(cache.path) + "\n"
            )
            return ExitStatus.success
        }
        var status = ExitStatus.success
        for word in words {
            let key = try key(of: word)
            let path = cache.cachePath(forKey: key)
            let exists = cache.containsData(forKey: key)
            if json { Terminal.print(JSONLine.text(PathLine(source: word, path: path, exists: exists))) }
            if exists {
                if !json { Terminal.print(Terminal.name(path) + "\n") }
            } else {
                if !json { Terminal.printError("\(word): not in the cache") }
                status = ExitStatus.failure
            }
        }
        return status
    }

    private struct RemovedLine: Encodable {
        var source: String
        var removed: Bool
    }

    /// Removes sources or keys; one that is not in the cache is a failure.
    static func remove(_ cache: DiskCache, _ words: [String], json: Bool) throws -> Int32 {
        guard !words.isEmpty else { throw UsageError("no source or key given") }
        var status = ExitStatus.success
        for word in words {
            let key = try key(of: word)
            let exists = cache.containsData(forKey: key)
            if exists { cache.removeData(forKey: key) }
            if json { Terminal.print(JSONLine.text(RemovedLine(source: word, removed: exists))) }
            guard !exists else { continue }
            if !json { Terminal.printError("\(word): not in the cache") }
            status = ExitStatus.failure
        }
        return status
    }

    private struct Cleanup: Encodable {
        var expired: Int
        var trimmed: Int
        var freed: Int
    }

    static func trim(_ cache: DiskCache, _ config: ImageCacheConfig, json: Bool) -> Int32 {
        cache.config = config
        let done = cache.removeExpiredData()
        report(
            Cleanup(expired: done.expiredCount, trimmed: done.trimmedCount, freed: done.freedByteCount),
            json: json,
            text: "\(done.expiredCount) expired and \(done.trimmedCount) more removed, "
                + "\(ByteCount.describe(Int64(done.freedByteCount))) freed"
        )
        return ExitStatus.success
    }

    static func clear(_ cache: DiskCache, json: Bool) -> Int32 {
        let before = cache.usage()
        cache.removeAllData()
        let left = cache.totalCount
        report(
            Cleanup(expired: 0, trimmed: before.count - left, freed: before.size),
            json: json,
            text: "\(before.count - left) entries removed"
        )
        if left > 0 { Terminal.printError("\(cache.path): \(left) entries could not be removed") }
        return left > 0 ? ExitStatus.failure : ExitStatus.success
    }

    private struct Damage: Encodable {
        var path: String
        var reason: String
        var removed: Bool
    }

    static func verify(_ cache: DiskCache, removes: Bool, json: Bool) -> Int32 {
        let damaged = cache.verify(removingDamaged: removes)
        for entry in damaged {
            report(
                Damage(path: entry.path, reason: entry.reason, removed: entry.isRemoved),
                json: json,
                text:
                    "\(Terminal.plain(entry.path)): \(Terminal.plain(entry.reason))\(entry.isRemoved ? " (removed)" : "")"
            )
        }
        if !json { Terminal.print("\(cache.totalCount) entries checked, \(damaged.count) damaged\n") }
        return damaged.allSatisfy(\.isRemoved) ? ExitStatus.success : ExitStatus.failure
    }

    private static func report(_ value: some Encodable, json: Bool, text: String) {
        Terminal.print(json ? JSONLine.text(value) : text + "\n")
    }

    /// Returns the key of a source; a word that is not a URL is itself the key.
    private static func key(of word: String) throws -> String {
        Source.isURL(word) ? try Source(word).url.absoluteString : word
    }
}
