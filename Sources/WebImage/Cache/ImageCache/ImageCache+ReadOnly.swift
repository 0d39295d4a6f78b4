extension ImageCache {
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
