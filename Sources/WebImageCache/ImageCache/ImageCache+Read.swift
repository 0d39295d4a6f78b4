public import FoundationEssentials

extension ImageCache {
    /// Returns the image in memory.
    public func memoryImage(forKey key: String) -> Image? { key.isEmpty ? nil : memoryCache.image(forKey: key) }

    /// Returns the image in memory; with ``WebImageOptions/decodeFirstFrameOnly``, an animation as a still image. Without that
    /// option, an entry with only the first frame of an animation is not returned.
    public func imageFromMemory(forKey key: String, options: WebImageOptions = []) -> Image? {
        guard let image = memoryImage(forKey: key) else { return nil }
        guard options.contains(.decodeFirstFrameOnly) else {
            return image.servesAsAnimation(isRequired: options.contains(.matchAnimatedImageClass)) ? image : nil
        }
        return image.still
    }

    /// Returns the encoded bytes on disk. Synchronous.
    public func diskData(forKey key: String) -> Data? { readEntry(forKey: key)?.data }

    /// Returns the entry on disk. Synchronous.
    public func diskEntry(forKey key: String) -> CachedImageData? { readEntry(forKey: key) }

    /// Returns true if there is an entry on disk, or a pending one. Synchronous; does not open the file.
    public func diskDataExists(forKey key: String) -> Bool { hasEntry(forKey: key) }

    // MARK: On a thread of the cache

    /// Reads the entry on disk on a thread of the cache, by priority among the queued disk work. `completion` is called exactly
    /// once, on a thread of the cache, with nil if there is no entry. A cancellation calls it at once with nil. It must not block.
    @discardableResult
    public func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: diskQueue, priority, completion) {
            defer { self.upkeep.maintainIfDue() }
            return self.readEntry(forKey: key)
        }
    }

    /// Finds the first level, memory or disk, that contains the key. `completion` is called exactly once: on the caller's thread if
    /// the disk need not be checked, otherwise on a thread of the cache. It must not block.
    public func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        if cacheType.includesMemory, memoryImage(forKey: key) != nil { return completion(.memory) }
        guard cacheType.includesDisk, !key.isEmpty else { return completion(.none) }
        onDiskQueue(.inline, { $0.hasEntry(forKey: key) ? .disk : .none }, completion)
    }

    /// Returns the first level, memory or disk, that contains the key.
    public func containsImage(forKey key: String, in cacheType: ImageCacheType = .all) async -> ImageCacheType {
        await withCheckedContinuation { continuation in
            containsImage(forKey: key, in: cacheType) { continuation.resume(returning: $0) }
        }
    }

    /// The directories that are read if an entry is not on disk; see ``ImageCacheConfig/readOnlyDirectories``. Duplicates are
    /// removed, and relative paths are made absolute.
    public var readOnlyDirectories: [String] {
        get { Self.usable(state.withLock { $0.config.readOnlyDirectories }) }
        set {
            state.withLock { $0.config.readOnlyDirectories = Self.usable(newValue) }
            changePlaces()
        }
    }

    /// Discards all knowledge of keys after a change of the directories to read: their entries may be different now.
    func changePlaces() {
        writes.withLock { writes in
            writes.generations.change(nil)
            known.withLock { $0.removeAll() }
        }
    }

    private static func usable(_ paths: [String]) -> [String] {
        var seen: Set<String> = []
        return paths.filter { !$0.isEmpty }.map { CacheDirectory.absolute($0) }.filter { seen.insert($0).inserted }
    }

    /// Returns the entry of a key in the read-only directories: the first file that is a valid entry of the key, or that contains
    /// plain bytes instead of an entry. Blocks.
    func readOnlyEntry(forKey key: String, mapped: Bool) -> CachedImageData? {
        let directories = readOnlyDirectories
        guard !directories.isEmpty else { return nil }
        let name = CacheFileName(key: key).string
        let plainName = String(name.prefix { $0 != "." })
        for directory in directories {
            for name in name == plainName ? [name] : [name, plainName] {
                if let entry = DiskCache.readFile(directory + "/" + name, key: key, mapped: mapped) { return entry }
            }
        }
        return nil
    }
}
