public import FoundationEssentials

/// The activity of a ``DiskCache`` object since it was created.
public struct DiskCacheStatistics: Sendable, Hashable {
    /// The number of reads that found a valid entry.
    public var hitCount = 0
    /// The number of reads that found no entry, or an invalid one.
    public var missCount = 0
    /// The number of entries written.
    public var storeCount = 0
    /// The number of metadata changes that were written in place, without rewriting the entry.
    public var amendCount = 0
    /// The number of writes that failed because of a system error or a limit.
    package var failedStoreCount = 0
    /// The number of entries that were found damaged and removed.
    package var damagedCount = 0
    /// The number of entries removed to enforce the size limit or because the disk was full.
    public var evictedCount = 0
    /// The number of entries removed because of their age.
    public var expiredCount = 0

    /// Creates statistics with all values zero.
    package init() {}
}

/// A disk entry, without its bytes.
public struct DiskCacheEntry: Sendable, Hashable {
    /// The key under which the entry was stored.
    public var key: String
    /// The path of its file.
    public var path: String
    /// The number of bytes of the image.
    public var byteCount: Int
    /// The disk space of the file in bytes.
    package var allocatedSize: Int
    /// The time at which the image was stored.
    package var created: Date
    /// The time at which the file was last written.
    public var modified: Date
    /// The time at which the entry was last read or stored, to the second.
    public var accessed: Date
    /// The validators for revalidation, with the response metadata; nil if none were stored.
    package var validators: CacheValidators?
}

/// A damaged file in the cache directory.
public struct DamagedDiskCacheEntry: Sendable, Hashable {
    /// The path of the file.
    public var path: String
    /// The kind of damage.
    public var reason: String
    /// A Boolean value that indicates whether the file was removed.
    package var isRemoved: Bool
}

/// The result of an expiry pass.
public struct DiskCacheCleanup: Sendable, Hashable {
    /// The number of entries removed because of their age.
    public var expiredCount = 0
    /// The number of entries removed because of the size limit.
    public var trimmedCount = 0
    /// The freed disk space in bytes.
    public var freedByteCount = 0
    /// False if the time limit was reached before the pass was complete, or if the directory could not be read.
    public var isComplete = true

    /// Creates a result with nothing removed.
    public init() {}
}
