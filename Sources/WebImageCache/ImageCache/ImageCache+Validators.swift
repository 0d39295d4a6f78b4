extension ImageCache {
    /// What is known of the entry of a key without looking at the disk; nil when nothing is. Known are the entries that were
    /// last stored, read, amended or asked for, 4096 at most. That an entry is known does not mean that it is still there: it may
    /// have been removed for want of room, or by another process.
    ///
    /// Any thread. Cost: about 0.1 µs.
    public func knownValidators(forKey key: String) -> KnownValidators? {
        key.isEmpty ? nil : known.withLock { $0.find(key) }
    }

    /// Reads what is stored with the entry on disk, or about to be, and remembers it. Reads the end of the file only (where the
    /// disk level is the library's own), and does not count as an access. Otherwise as ``queryDisk(forKey:priority:completion:)``.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (KnownValidators?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: diskQueue, priority, completion) { self.readValidators(forKey: key) }
    }

    /// What is stored with an entry, whether on disk already or not. Blocks.
    package func readValidators(forKey key: String) -> KnownValidators? {
        guard !key.isEmpty else { return nil }
        let (own, generation) = readDetails(forKey: key)
        let found = (own ?? readForeignEntry(forKey: key)).map { KnownValidators($0) }
        learn(found, forKey: key, since: generation)
        return found
    }

    /// Changes an entry on disk, if it is of the bytes that this is about. Blocks.
    func amend(_ amendment: EntryAmendment, forKey key: String) {
        if let disk = diskCache as? DiskCache { return disk.amend(amendment, forKey: key) }
        let amendment = amendment.applied(to: diskCache.entry(forKey: key)?.sourceHash)
        diskCache.amend(extendedData: amendment.extendedData, validators: amendment.validators, forKey: key)
    }

    // MARK: Remembering

    /// Takes back what was remembered of an entry that could not be written: what lay there before may lie there still.
    func forgetStored(_ entry: CachedImageData, forKey key: String) {
        known.withLock { known in
            // Something newer may be on its way.
            if known.find(key) == KnownValidators(entry) { known.set(nil, forKey: key) }
        }
    }

    /// Remembers what was read of an entry (nil: that there is none), unless the key is of another generation by now.
    func learn(_ found: KnownValidators?, forKey key: String, since generation: Generation) {
        let name = MemoryCacheKey(key)
        writes.withLock { writes in
            guard writes.generations.isCurrent(generation, of: name) else { return }
            known.withLock { $0.set(found, forKey: key) }
        }
    }

    /// Remembers what work will have made of an entry. Called with the lock on the writes held, so that what is known changes in the order
    /// in which readers see it change.
    func note(_ work: DiskWork, forKey key: String, replacing: Bool) {
        known.withLock { known in
            switch work {
            case .store(let picture):
                known.set(replacing ? KnownValidators(picture.content) : nil, forKey: key)
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
