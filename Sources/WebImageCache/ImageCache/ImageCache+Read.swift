public import FoundationEssentials

extension ImageCache {
    /// The image in memory.
    public func memoryImage(forKey key: String) -> Image? { key.isEmpty ? nil : memoryCache.image(forKey: key) }

    /// The image in memory; with ``WebImageOptions/decodeFirstFrameOnly``, that of an animation as a still picture. Without it
    /// the first frame alone of an animation is not found.
    public func imageFromMemory(forKey key: String, options: WebImageOptions = []) -> Image? {
        guard let image = memoryImage(forKey: key) else { return nil }
        guard options.contains(.decodeFirstFrameOnly) else {
            return image.servesAsAnimation(isRequired: options.contains(.matchAnimatedImageClass)) ? image : nil
        }
        return image.still
    }

    /// The encoded bytes on disk. Synchronous.
    public func diskData(forKey key: String) -> Data? { readEntry(forKey: key)?.data }

    /// The entry on disk. Synchronous.
    public func diskEntry(forKey key: String) -> CachedImageData? { readEntry(forKey: key) }

    /// Returns true if there is an entry on disk, or one about to be written. Synchronous; does not open the file.
    public func diskDataExists(forKey key: String) -> Bool { hasEntry(forKey: key) }

    // MARK: On a thread of the cache

    /// Reads the entry on disk on a thread of the cache, by priority among what waits for the disk. `completion` is called exactly once,
    /// on a thread of the cache, with nil when there is none. A cancel calls it at once with nil. It must not block.
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

    /// Returns the first level, memory or disk, that has the key. `completion` is called exactly once: on the caller's thread when disk
    /// need not be asked, else on a thread of the cache. It must not block.
    public func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        if cacheType.includesMemory, memoryImage(forKey: key) != nil { return completion(.memory) }
        guard cacheType.includesDisk, !key.isEmpty else { return completion(.none) }
        onDiskQueue(.inline, { $0.hasEntry(forKey: key) ? .disk : .none }, completion)
    }

    /// Returns the first level, memory or disk, that has the key.
    public func containsImage(forKey key: String, in cacheType: ImageCacheType = .all) async -> ImageCacheType {
        await withCheckedContinuation { continuation in
            containsImage(forKey: key, in: cacheType) { continuation.resume(returning: $0) }
        }
    }

    /// Directories that are read when an entry is not on disk; see ``ImageCacheConfig/readOnlyDirectories``. Those that are
    /// there already are not added a second time, and relative paths are made absolute.
    public var readOnlyDirectories: [String] {
        get { Self.usable(state.withLock { $0.config.readOnlyDirectories }) }
        set {
            state.withLock { $0.config.readOnlyDirectories = Self.usable(newValue) }
            changePlaces()
        }
    }

    /// After a change of where else entries are read: what was read or is known of any of them may be of another one now.
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

    /// What the read-only directories have for a key: the first file that is a whole entry of it, or no entry at all but
    /// plain bytes. Blocks.
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
