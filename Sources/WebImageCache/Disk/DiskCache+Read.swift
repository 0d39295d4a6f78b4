import CLinux
public import FoundationEssentials
import Glibc

extension DiskCache {
    /// The number of seconds within which a second read does not set the access time again.
    static let accessGranularity: Double = 1

    /// Returns the bytes stored under `key`; nil if there are none, or if they are damaged, and then removed. Sets the entry's
    /// access time. Blocks; a read error is in ``lastError``.
    public func data(forKey key: String) -> Data? { read(key)?.data }

    /// Returns the bytes stored under `key` with extended data and validators; nil as for ``data(forKey:)``. Sets the access time.
    /// Cost: one open, one read, a checksum over the bytes.
    public func entry(forKey key: String) -> CachedImageData? { read(key)?.content }

    /// Returns the extended data stored with the entry of `key`; nil if there is none. Reads only the end of the file and does not
    /// set the access time.
    public func extendedData(forKey key: String) -> Data? { trailer(forKey: key)?.trailer.extendedData }

    /// Returns the ThumbHash stored with the entry of `key`; nil if there is none. Reads only the end of the file and does not set
    /// the access time.
    package func thumbHash(forKey key: String) -> ThumbHash? { trailer(forKey: key)?.trailer.thumbHash }

    /// Returns the validators stored with the entry of `key`, with the response metadata; nil if there are none. Reads only the end
    /// of the file and does not set the access time.
    package func validators(forKey key: String) -> CacheValidators? { trailer(forKey: key)?.trailer.validators }

    /// Returns the entry of `key` without its bytes, but with their hash; nil if there is none. The bytes are not verified.
    func details(forKey key: String) -> CachedImageData? { trailer(forKey: key)?.content(Data()) }

    private func trailer(forKey key: String) -> LoadedTrailer? {
        guard !key.isEmpty, let directory = usableDirectory() else { return nil }
        let found = EntryReader(calls: calls, directory: directory).trailer(of: CacheFileName(key: key).string)
        return found?.trailer.hasKey(key) == true ? found : nil
    }

    /// Returns a Boolean value that indicates whether there is a file for `key`. Does not open the file, so a read may still find
    /// it damaged, or find another key with the same MD5.
    public func containsData(forKey key: String) -> Bool {
        guard !key.isEmpty, let directory = usableDirectory() else { return false }
        return entryStatus(CacheFileName(key: key).string, in: directory) != nil
    }

    /// Reads any file: the bytes of an entry of this library without its trailer, or all bytes of another file. Nil if there is no
    /// regular file, if it cannot be read, or if it is an entry that is damaged or belongs to another key than the given one.
    /// Changes nothing.
    static func readFile(_ path: String, key: String? = nil, mapped: Bool) -> CachedImageData? {
        let calls = FileCalls.system
        let reader = EntryReader(calls: calls)
        switch reader.read(path, key: key, mapped: mapped) {
        case .entry(let entry):
            return entry.content
        case .damaged(_, reason: EntryReader.noFooter):
            guard let (file, status) = try? reader.open(path) else { return nil }
            defer { _ = calls.close(file) }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= ImageLimits().maximumEncodedByteCount,
                let block = try? FileBlock.load(file, status: status, mapped: mapped, calls: calls, path: path)
            else { return nil }
            return CachedImageData(data: block.data(count: block.bytes.count))
        default:
            return nil
        }
    }

    /// Reads and verifies an entry; removes it if it is damaged.
    package func read(_ key: String) -> LoadedEntry? {
        guard !key.isEmpty else { return nil }
        guard let (directory, isMapped) = readableDirectory() else {
            state.withLock { $0.statistics.missCount += 1 }
            return nil
        }
        let name = CacheFileName(key: key).string
        let reader = EntryReader(calls: calls, directory: directory, owner: directory.status.st_uid)
        let outcome = reader.read(name, key: key, mapped: isMapped) { file, status in touch(file, status) }
        switch consume outcome {
        case .entry(let entry):
            state.withLock { $0.statistics.hitCount += 1 }
            return entry
        case .damaged(let status, _):
            removeDamaged(name, status)
        case .failed(let error):
            note(error)
        case .absent, .foreign:
            break
        }
        state.withLock { $0.statistics.missCount += 1 }
        return nil
    }

    /// Sets the access time of a file that was read, unless it was set within the last second.
    private func touch(_ file: Int32, _ status: stat) {
        let now = clock.wallTime()
        guard abs(now - status.st_atim.seconds) >= Self.accessGranularity else { return }
        let time = timespec(seconds: now)
        // Fails on a read-only file system, where nothing is evicted either.
        _ = webimage_set_access_time(file, Int64(time.tv_sec), Int64(time.tv_nsec))
    }

    /// Returns the state of an entry's file; nil if there is no regular file.
    func entryStatus(_ name: String, in directory: DirectoryHandle) -> stat? {
        guard let status = directory.status(of: name), status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status
    }

    /// Removes a damaged file, unless it was replaced in the meantime.
    ///
    /// The file is first renamed and then checked again, because another process could store between a check and a removal.
    @discardableResult
    func removeDamaged(_ name: String, _ damaged: stat) -> Bool {
        guard let directory = usableDirectory() else { return false }
        let place = directory.descriptor
        let removed = stripe(of: name).withLock { _ -> Bool in
            guard let status = entryStatus(name, in: directory), status.isUnchanged(since: damaged) else {
                return false
            }
            let aside = EntryWriter.temporaryName()
            guard webimage_rename(place, name, place, aside, false) == 0 else { return false }
            guard let moved = directory.status(of: aside), moved.isUnchanged(since: damaged) else {
                if webimage_rename(place, aside, place, name, true) != 0 { directory.remove(aside) }
                return false
            }
            return directory.remove(aside) == 0
        }
        if removed { state.withLock { $0.statistics.damagedCount += 1 } }
        return removed
    }
}
