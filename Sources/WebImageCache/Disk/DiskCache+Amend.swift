public import FoundationEssentials
import Glibc

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

    /// Amends an entry; validators that belong to other bytes than the entry's are ignored.
    func amend(_ amendment: EntryAmendment, forKey key: String) {
        guard amendment.extendedData != nil || amendment.validators != nil else { return }
        guard !key.isEmpty, let directory = usableDirectory() else { return }
        let name = CacheFileName(key: key).string
        let isRewritten = stripe(of: name).withLock { _ -> Bool in
            if amendInPlace(name, in: directory, key: key, amendment) { return false }
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
        let trailer = found.amended(by: amendment)
        if trailer.records == found.trailer.records { return true }
        guard trailer.extendedData == found.trailer.extendedData, let slots = found.footer.slots,
            let change = slots.amendment(to: trailer.response ?? Data(), after: found.response)
        else { return false }
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
        guard case .entry(let entry, let status) = outcome else { return }
        let trailer = entry.found.amended(by: amendment)
        guard trailer.records != entry.trailer.records else { return }
        write(entry.data, trailer: trailer, name: name, times: (status.st_atim, status.st_mtim), overwriting: true) {
            // Another process may have stored other bytes in the meantime.
            self.entryStatus(name, in: directory)?.isUnchanged(since: status) ?? false
        }
    }
}
