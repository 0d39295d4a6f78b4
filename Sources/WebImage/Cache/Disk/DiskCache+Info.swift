import FoundationEssentials
import Glibc

extension DiskCache {
    /// Number of entries. Files of other makers and files being written do not count. Cost: a walk through the directory.
    public var totalCount: Int { usage().count }

    /// Bytes of all entries' files. Files of other makers and files being written do not count. Cost: a walk through the
    /// directory.
    public var totalSize: Int { usage().size }

    /// Number of entries and bytes of their files, from one walk through the directory: 2 µs per entry.
    public func usage() -> (count: Int, size: Int) {
        var count = 0
        var size = 0
        guard state.withLock({ $0.refusal == nil }) else { return (0, 0) }
        DirectoryScan(path: path, calls: calls).forEachEntry { _, status in
            count += 1
            size += Int(status.st_size)
            return true
        }
        return (count, size)
    }

    /// Every entry, in no order. Opens each file to read its key, about 10 µs per entry; does not check the bytes and does
    /// not set access times. Files that are no entries are left out.
    public func entries() -> [DiskCacheEntry] {
        var entries: [DiskCacheEntry] = []
        forEachEntry { entries.append($0) }
        return entries
    }

    /// Calls `body` with every entry, in no order; see ``entries()``.
    public func forEachEntry(_ body: (DiskCacheEntry) -> Void) {
        let reader = EntryReader(calls: calls)
        guard state.withLock({ $0.refusal == nil }) else { return }
        DirectoryScan(path: path, calls: calls).forEachEntry { item, status in
            let path = path(ofName: item.string)
            guard let (file, _) = try? reader.open(path) else { return true }
            defer { _ = calls.close(file) }
            guard let found = reader.trailer(file, status: status) else { return true }
            body(
                DiskCacheEntry(
                    key: found.trailer.key,
                    path: path,
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

    /// Reads every entry in full and tells which are damaged: torn, changed, or under a name that is not their key's.
    ///
    /// - Parameter removingDamaged: whether damaged entries are removed.
    public func verify(removingDamaged: Bool = false) -> [DamagedDiskCacheEntry] {
        var damaged: [DamagedDiskCacheEntry] = []
        let reader = EntryReader(calls: calls)
        guard state.withLock({ $0.refusal == nil }) else { return [] }
        DirectoryScan(path: path, calls: calls).forEachEntry { item, _ in
            let name = item.string
            let file = path(ofName: name)
            let found: (FileIdentity, String)?
            switch reader.read(file, key: nil) {
            case .entry(let entry, let status):
                let key = entry.trailer?.key
                found =
                    key.map { CacheFileName(key: $0).string } == name
                    ? nil : (FileIdentity(status), "it holds the entry of another key, \(key ?? "none")")
            case .damaged(let identity, let reason):
                found = (identity, reason)
            case .failed(let error):
                damaged.append(DamagedDiskCacheEntry(path: file, reason: error.description, isRemoved: false))
                found = nil
            case .absent, .foreign:
                found = nil
            }
            if let (identity, reason) = found {
                let isRemoved = removingDamaged && removeDamaged(name, identity: identity)
                damaged.append(DamagedDiskCacheEntry(path: file, reason: reason, isRemoved: isRemoved))
            }
            return true
        }
        return damaged
    }

    /// Moves a cache directory, for example to a new place of the program's caches.
    ///
    /// Without a directory at the destination (a plain file there is removed) it is renamed, missing parents are made. Else
    /// its entries are moved into the destination, except those that exist there, and the source is removed with what
    /// remained (but for the destination, if that lies in it). Nothing happens when both are the same or the source is no directory.
    public static func moveDirectory(from source: String, to destination: String, writesTag: Bool = true) {
        let source = CacheDirectory.absolute(source)
        let destination = CacheDirectory.absolute(destination)
        var from = stat()
        var to = stat()
        guard stat(source, &from) == 0, from.st_mode & S_IFMT == S_IFDIR else { return }
        let destinationExists = stat(destination, &to) == 0
        let isSame = destinationExists && from.st_dev == to.st_dev && from.st_ino == to.st_ino
        guard source != destination, !isSame else { return }
        if destinationExists, to.st_mode & S_IFMT == S_IFDIR {
            mergeDirectory(source, into: destination)
        } else {
            if destinationExists { unlink(destination) }
            if let slash = destination.lastIndex(of: "/"), slash != destination.startIndex {
                try? CacheDirectory.makeDirectories(String(destination[..<slash]))
            }
            // Across file systems, or into itself.
            if rename(source, destination) != 0, errno == EXDEV || errno == EINVAL {
                try? CacheDirectory.makeDirectories(destination)
                mergeDirectory(source, into: destination)
            }
        }
        try? CacheDirectory(path: destination).prepare(writingTag: writesTag)
    }
}
