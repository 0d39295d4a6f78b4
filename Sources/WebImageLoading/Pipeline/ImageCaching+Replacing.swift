extension ImageCaching {
    /// Stores in the place of what lies under the key, also where a cache leaves entries alone that exist; levels that are not
    /// stored to lose what they have, since it is out of date.
    ///
    /// - Parameter completion: called when everything is done.
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
            // Its writes do not undo a removal before them. Both at once, because a clear may come while one would wait for
            // the removal, and must be the last word.
            removeImage(forKey: key, from: .disk, completion: nil)
            return store(rest, completion: completion)
        }
        // Only when the old entry is gone: a write that comes while the removal waits would take its place.
        removeImage(forKey: key, from: .disk) { [self] in store(rest, completion: completion) }
    }

    /// Whether a store may leave an entry as it is: other caches than the library's own do not tell.
    private var keepsExistingEntries: Bool { (self as? ImageCache)?.config.writesWithoutOverwriting ?? true }

    /// Reads what is stored with an entry, on the caller's thread.
    func validatorsSync(forKey key: String) -> KnownValidators? {
        if let own = self as? ImageCache { return own.readValidators(forKey: key) }
        return diskEntry(forKey: key).map { KnownValidators($0) }
    }
}
