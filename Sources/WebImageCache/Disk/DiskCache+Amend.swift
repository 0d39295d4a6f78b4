public import FoundationEssentials
import Glibc

extension DiskCache {
    /// Puts extended data to an existing entry, in place of what was there; nil takes it away. See
    /// ``amend(extendedData:validators:forKey:)``.
    public func setExtendedData(_ extendedData: Data?, forKey key: String) {
        amend(extendedData: .some(extendedData), validators: nil, forKey: key)
    }

    /// Changes what is stored with an entry, in place of what was there: nil leaves a part alone, and `.some(nil)` takes it
    /// away. Bytes and times of the entry stay as they are, and so does what a later version of the library put there. Has
    /// no effect without an entry.
    ///
    /// Validators of an entry that was stored with some are written into its file, without its bytes being read or written; they
    /// are there whole or not at all. Cost: about 20 µs. Other changes, and validators that are longer than the place for them, cost
    /// reading and writing the whole entry, so better store all of it together.
    public func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        amend(EntryAmendment(extendedData: extendedData, validators: validators), forKey: key)
    }

    /// The same; validators that are about other bytes than those of the entry are left out.
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

    /// Writes other validators into the file of an entry, whose stripe is held. False when the entry has to be written again, if any.
    private func amendInPlace(
        _ name: String,
        in directory: DirectoryHandle,
        key: String,
        _ amendment: EntryAmendment
    ) -> Bool {
        let reader = EntryReader(calls: calls, directory: directory)
        guard let (file, status) = try? reader.open(name, forWriting: true) else { return false }
        defer { _ = calls.close(file) }
        // One with other names is not ours alone: a backup made of links, say.
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
        // The file is as old as its picture.
        futimens(file, [.omitted, status.st_mtim])
        if isWritten { state.withLock { $0.statistics.amendCount += 1 } }
        return isWritten
    }

    /// Writes an entry anew, with its bytes. Its stripe is held.
    private func rewrite(_ name: String, in directory: DirectoryHandle, key: String, _ amendment: EntryAmendment) {
        let outcome = EntryReader(calls: calls, directory: directory).read(name, key: key)
        guard case .entry(let entry, let status) = outcome else { return }
        let trailer = entry.found.amended(by: amendment)
        guard trailer.records != entry.trailer.records else { return }
        write(entry.data, trailer: trailer, name: name, times: (status.st_atim, status.st_mtim), overwriting: true) {
            // Another process may have stored other bytes meanwhile.
            self.entryStatus(name, in: directory)?.isUnchanged(since: status) ?? false
        }
    }
}
