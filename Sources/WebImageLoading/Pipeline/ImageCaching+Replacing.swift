extension ImageCaching {
    /// Stores an image in place of the key's entry, even in caches that do not overwrite entries. Levels that it is not stored in
    /// lose their entry, which is out of date.
    ///
    /// - Parameter completion: Called when everything is done.
    func replace(with request: ImageStoreRequest, completion: @escaping @Sendable () -> Void) {
        let (key, type) = (request.key, request.cacheType)
        if !type.includesMemory { removeImage(forKey: key, from: .memory, completion: nil) }
        if type.includesDisk, !keepsExistingEntries { return store(request, completion: completion) }
        if type.includesMemory {
            var memory = request
            memory.cacheType = .memory
            store(memory, completion: nil)
        }
        guard type.includesDisk else { return removeImage(forKey: key, from: .disk, completion: completion) }
        var disk = request
        disk.cacheType = .disk
        let rest = disk
        if self is ImageCache {
            // Its writes do not undo an earlier removal. Both are queued at once: a clear that comes while the write waited for
            // the removal must come last.
            removeImage(forKey: key, from: .disk, completion: nil)
            return store(rest, completion: completion)
        }
        // Only after the old entry is removed: a pending removal would otherwise delete the new one.
        removeImage(forKey: key, from: .disk) { [self] in store(rest, completion: completion) }
    }

    /// True if a store may keep an existing entry, which is unknown for other caches than the library's own.
    private var keepsExistingEntries: Bool { localImageCache?.config.writesWithoutOverwriting ?? true }

    /// Reads the validators stored with an entry, on the caller's thread.
    func validatorsSync(forKey key: String) -> CachedValidators? {
        if let own = localImageCache { return own.readValidators(forKey: key) }
        return diskEntry(forKey: key).map { CachedValidators($0) }
    }
}
