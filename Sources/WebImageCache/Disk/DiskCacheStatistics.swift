public import FoundationEssentials

/// What a ``DiskCache`` object has done since it was made.
public struct DiskCacheStatistics: Sendable, Hashable {
    /// Reads that found a whole entry.
    public var hitCount = 0
    /// Reads that found none, or one that could not be used.
    public var missCount = 0
    /// Entries written.
    public var storeCount = 0
    /// Changes of what is stored with an entry that were written without writing the entry anew.
    public var amendCount = 0
    /// Writes that were given up because of an error of the system or a limit.
    public var failedStoreCount = 0
    /// Entries found damaged and removed.
    public var damagedCount = 0
    /// Entries removed to keep the size limit or because there was no room.
    public var evictedCount = 0
    /// Entries removed because of their age.
    public var expiredCount = 0

    /// Nothing yet.
    public init() {}
}

/// A disk entry, without its bytes.
public struct DiskCacheEntry: Sendable, Hashable {
    /// The key it was stored under.
    public var key: String
    /// Its file.
    public var path: String
    /// Bytes of the picture.
    public var byteCount: Int
    /// Bytes of disk space that the file takes.
    public var allocatedSize: Int
    /// When the picture was stored.
    public var created: Date
    /// When the file was last written.
    public var modified: Date
    /// When it was last read or stored, to the second.
    public var accessed: Date
    /// What the server gave to ask it later for a newer picture, and what is known of its response; nil when nothing was kept.
    public var validators: CacheValidators?
}

/// A file in the cache directory that is not what was stored.
public struct DamagedDiskCacheEntry: Sendable, Hashable {
    /// The file.
    public var path: String
    /// What is wrong with it.
    public var reason: String
    /// Whether it was removed.
    public var isRemoved: Bool
}

/// What a pass through a cache removed.
public struct DiskCacheCleanup: Sendable, Hashable {
    /// Entries removed because of their age.
    public var expiredCount = 0
    /// Entries removed because of the size limit.
    public var trimmedCount = 0
    /// Bytes of disk space that came free.
    public var freedByteCount = 0
    /// False when the time was over before everything was done, or the directory could not be read.
    public var isComplete = true

    /// Nothing yet.
    public init() {}
}
