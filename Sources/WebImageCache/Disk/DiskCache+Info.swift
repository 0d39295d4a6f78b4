import FoundationEssentials
import Glibc

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
        scanning(directory).forEachEntry { _, status in
            count += 1
            size += status.length
            return true
        }
        return (count, size)
    }

    /// Returns all entries, in no order. Opens each file to read its key, about 10 µs per entry; does not verify the bytes and does
    /// not set access times. Files that are not entries are skipped.
    public func entries() -> [DiskCacheEntry] {
        var entries: [DiskCacheEntry] = []
        forEachEntry { entries.append($0) }
        return entries
    }

    /// Calls `body` with every entry, in no order; see ``entries()``.
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
            case .entry(let entry, let status) where CacheFileName(key: entry.trailer.key).string != name:
                note("it contains the entry of another key, \(entry.trailer.key)", status)
            case .damaged(let status, let reason): note(reason, status)
            case .failed(let error): note(error.description, nil)
            case .entry, .absent, .foreign: break
            }
            return true
        }
        return damaged
    }
}
