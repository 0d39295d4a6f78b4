extension ImageCache {
    /// Returns the known validators of the entry of a key without reading the disk; nil if none are known. Known are the entries
    /// that were last stored, read, amended or queried, 4096 at most. A known entry may no longer exist: it may have been evicted,
    /// or removed by another process.
    ///
    /// Any thread. Cost: about 0.1 µs.
    public func knownValidators(forKey key: String) -> CachedValidators? {
        key.isEmpty ? nil : known.withLock { $0.find(key) }
    }

    /// Reads the metadata of the entry on disk, or pending, and remembers the validators. Reads only the end of the file (if the
    /// disk level is a ``DiskCache``), and does not count as an access. Otherwise the same as
    /// ``queryDisk(forKey:priority:completion:)``.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: diskQueue, priority, completion) { self.readValidators(forKey: key) }
    }

    /// Returns the validators of an entry, whether it is already on disk or still pending. Blocks.
    package func readValidators(forKey key: String) -> CachedValidators? {
        guard !key.isEmpty else { return nil }
        let (own, generation) = readDetails(forKey: key)
        let found = (own ?? readForeignEntry(forKey: key)).map { CachedValidators($0) }
        learn(found, forKey: key, since: generation)
        return found
    }

    /// Amends an entry on disk, if it has the bytes that the amendment is for. Blocks.
    func amend(_ amendment: EntryAmendment, forKey key: String) {
        if let disk = diskCache as? DiskCache { return disk.amend(amendment, forKey: key) }
        let amendment = amendment.applied(to: diskCache.entry(forKey: key)?.sourceHash)
        diskCache.amend(extendedData: amendment.extendedData, validators: amendment.validators, forKey: key)
    }

    // MARK: Known validators

    /// Forgets the validators of an entry that could not be written: the previous entry may still exist.
    func forgetStored(_ entry: CachedImageData, forKey key: String) {
        known.withLock { known in
            // A newer entry may be pending.
            if known.find(key) == CachedValidators(entry) { known.set(nil, forKey: key) }
        }
    }

    /// Remembers the validators of an entry that was read (nil: there is no entry), unless the key has a newer generation.
    func learn(_ found: CachedValidators?, forKey key: String, since generation: Generation) {
        let name = MemoryCacheKey(key)
        writes.withLock { writes in
            guard writes.generations.isCurrent(generation, of: name) else { return }
            known.withLock { $0.set(found, forKey: key) }
        }
    }

    /// Remembers the validators that work will result in. Called with the lock of `writes` held, so that known validators change in
    /// the order in which readers see the changes.
    func note(_ work: DiskWork, forKey key: String, replacing: Bool) {
        known.withLock { known in
            switch work {
            case .store(let picture):
                known.set(replacing ? CachedValidators(picture.content) : nil, forKey: key)
            case .amend(let amendment):
                known.amend(amendment, forKey: key)
            case .remove:
                known.set(nil, forKey: key)
            case .nothing:
                break
            }
        }
    }
}
