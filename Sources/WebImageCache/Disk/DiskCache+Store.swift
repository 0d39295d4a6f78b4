public import FoundationEssentials
import Glibc

extension DiskCache {
    /// Stores `data` under `key`, with or without extended data. An existing entry is replaced as a whole, or kept with
    /// ``ImageCacheConfig/writesWithoutOverwriting``.
    ///
    /// If the disk is full, the oldest entries are evicted and the write is retried once; if the directory has vanished, it is
    /// created again.
    ///
    /// - Returns: true if the entry is stored, or kept as configured; false if a system error or a limit prevented it. The previous
    ///   entry stays then.
    @discardableResult
    public func store(_ data: Data, forKey key: String, extendedData: Data? = nil) -> Bool {
        store(CachedImageData(data: data, extendedData: extendedData), forKey: key)
    }

    /// Stores an entry with all its metadata; see ``store(_:forKey:extendedData:)``.
    @discardableResult
    public func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        guard !key.isEmpty else { return false }
        var trailer = EntryTrailer(key: key, created: nowNanoseconds(), entry)
        if let variants = entry.variants.value {
            trailer.reserveVariants()
            trailer.variants = variants
        }
        let now = timespec(seconds: clock.wallTime())
        let name = CacheFileName(key: key).string
        let isStored = stripe(of: name).withLock { _ in
            write(entry.data, trailer: trailer, name: name, times: (now, now))
        }
        keepSizeLimit(after: entry.data.count)
        return isStored
    }

    /// Removes the entry of `key`, if there is one.
    public func removeData(forKey key: String) {
        guard !key.isEmpty, let directory = usableDirectory() else { return }
        let name = CacheFileName(key: key).string
        stripe(of: name).withLock { _ in
            guard let status = entryStatus(name, in: directory) else { return }
            _ = remove(name, status.allocatedSize, in: directory)
        }
    }

    /// Removes all entries, and all temporary files of unfinished writes. The directory and foreign files stay; so does an entry
    /// that another store is writing at this moment: it counts as stored after the removal.
    public func removeAllData() {
        let failure = usableDirectory().map(scanning)?.forEach { item in
            if CacheFileName.isEntryName(item.name) || isAbandoned(item) {
                unlinkat(item.directory, item.cString, 0)
            }
            return true
        }
        if let failure { note(failure) }
        state.withLock { $0.eviction.reset() }
        expiryPass.withLock { $0 = nil }
        dropScan()
        prepareDirectory()
    }

    /// Returns whether a temporary file has not been touched for so long that its writer must have died.
    private func isAbandoned(_ item: DirectoryWalk.Item) -> Bool {
        guard EntryWriter.isTemporaryName(item.name), let status = item.status() else { return false }
        // The kernel sets the change time, so it is compared with the system clock, whatever clock this cache uses.
        return abs(ClockSource.system.wallTime() - status.st_ctim.seconds) > EntryWriter.longestWrite
    }

    /// Writes an entry, with retries after repairs. The stripe of the name is held.
    @discardableResult
    func write(
        _ data: Data,
        trailer: EntryTrailer,
        name: String,
        times: (accessed: timespec, modified: timespec),
        overwriting: Bool? = nil,
        stillWanted: () -> Bool = { true }
    ) -> Bool {
        let config = config
        guard config.maxDiskSize <= 0 || data.count <= config.maxDiskSize else { return fail(nil) }
        // Another process may remove the directory while a file is written there, repeatedly.
        var attempts = 8
        var mayMakeRoom = true
        while true {
            let directory: DirectoryHandle
            do throws(SystemCallError) { directory = try existingDirectory(making: true) } catch { return fail(error) }
            let replaced = config.maxDiskSize > 0 ? entryStatus(name, in: directory)?.allocatedSize ?? 0 : 0
            do throws(SystemCallError) {
                let commit = try data.withBytes { (bytes) throws(SystemCallError) in
                    try EntryWriter(directory: directory, calls: calls).write(
                        bytes,
                        trailer: trailer,
                        name: name,
                        times: times,
                        overwriting: overwriting ?? !config.writesWithoutOverwriting,
                        stillWanted: stillWanted
                    )
                }
                if case .stored(let size) = commit {
                    let tag = RollingEviction.tag(name)
                    state.withLock { state in
                        state.statistics.storeCount += 1
                        state.eviction.didStore(size, replacing: replaced, name: tag)
                    }
                }
                return true
            } catch {
                if error.isAbsence, attempts > 0 {
                    attempts -= 1
                } else if error.isOutOfSpace, mayMakeRoom, makeRoom(for: data.count) {
                    mayMakeRoom = false
                } else {
                    return fail(error)
                }
            }
        }
    }

    private func fail(_ error: SystemCallError?) -> Bool {
        state.withLock { state in
            state.statistics.failedStoreCount += 1
            if let error { state.lastError = error }
        }
        return false
    }
}

extension DiskCache {
    /// Replaces the extended data of an existing entry; nil removes it. See ``amend(extendedData:validators:forKey:)``.
    public func setExtendedData(_ extendedData: Data?, forKey key: String) {
        amend(extendedData: .some(extendedData), validators: nil, forKey: key)
    }

    /// Replaces metadata of an existing entry: nil leaves a part unchanged, and `.some(nil)` removes it. The entry's bytes, times
    /// and records of later library versions stay. Has no effect without an entry.
    ///
    /// If an entry was stored with validators, new ones are written in place, without reading or writing its bytes; the change is
    /// atomic. Cost: about 20 µs. Other changes, and validators that exceed the reserved space, cost reading and writing the whole
    /// entry, so store all metadata together with the entry if possible.
    public func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        amend(EntryAmendment(extendedData: extendedData, validators: validators), forKey: key)
    }

    /// Amends an entry; validators and variants that belong to other bytes than the entry's are ignored.
    func amend(_ amendment: EntryAmendment, forKey key: String) {
        guard !amendment.isEmpty else { return }
        guard !key.isEmpty, let directory = usableDirectory() else { return }
        let name = CacheFileName(key: key).string
        let isRewritten = stripe(of: name).withLock { _ -> Bool in
            if amendInPlace(name, in: directory, key: key, amendment) || amendment.isOnlyVariants { return false }
            rewrite(name, in: directory, key: key, amendment)
            return true
        }
        if isRewritten { keepSizeLimit() }
    }

    /// Overwrites the validators in the file of an entry, whose stripe is held. False if the entry, if there is one, has to be
    /// rewritten.
    private func amendInPlace(
        _ name: String,
        in directory: DirectoryHandle,
        key: String,
        _ amendment: EntryAmendment
    ) -> Bool {
        let reader = EntryReader(calls: calls, directory: directory)
        guard let (file, status) = try? reader.open(name, forWriting: true) else { return false }
        defer { _ = calls.close(file) }
        // A file with other hard links is shared, for example with a backup.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
            let found = reader.trailer(file, status: status), found.trailer.hasKey(key)
        else { return false }
        var trailer = found.amended(by: amendment)
        guard trailer.extendedData == found.trailer.extendedData, let slots = found.footer.slots else {
            return trailer.records == found.trailer.records
        }
        var change: (offset: Int, bytes: [UInt8])?
        // Variants get the room that validators leave.
        repeat {
            if trailer.records == found.trailer.records { return true }
            change = slots.amendment(to: trailer.response ?? Data(), after: found.response)
        } while change == nil && trailer.removeOldestVariant()
        guard let change else { return false }
        let offset = found.footer.slotsRange.lowerBound + change.offset
        let isWritten = change.bytes.withUnsafeBytes { bytes in
            (try? calls.writeFully(file, bytes, at: offset, path: directory.path(of: name))) != nil
        }
        // The modification time stays that of the image.
        futimens(file, [.omitted, status.st_mtim])
        if isWritten { state.withLock { $0.statistics.amendCount += 1 } }
        return isWritten
    }

    /// Rewrites an entry with its bytes. Its stripe is held.
    private func rewrite(_ name: String, in directory: DirectoryHandle, key: String, _ amendment: EntryAmendment) {
        let outcome = EntryReader(calls: calls, directory: directory).read(name, key: key)
        guard case .entry(let entry) = outcome else { return }
        let status = entry.status
        let trailer = entry.found.amended(by: amendment)
        guard trailer.records != entry.trailer.records else { return }
        write(entry.data, trailer: trailer, name: name, times: (status.st_atim, status.st_mtim), overwriting: true) {
            // Another process may have stored other bytes in the meantime.
            self.entryStatus(name, in: directory)?.isUnchanged(since: status) ?? false
        }
    }
}
