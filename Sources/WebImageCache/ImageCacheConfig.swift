/// The settings of an ``ImageCache`` and its ``DiskCache``.
///
/// A cache copies its config when it is created; change it later through the cache's `config` property. Every property takes effect
/// at once there, unless stated otherwise.
public struct ImageCacheConfig: Sendable {
    /// The timestamp of a disk entry that determines its expiry and the order of eviction.
    public enum ExpireType: Int, Sendable, Hashable, CaseIterable {
        /// The time at which the entry was last read or stored.
        case accessDate = 0
        /// The time at which its file was last written.
        case modificationDate = 1
        /// The time at which its bytes were stored. Slower than the others, because every file has to be opened to read it.
        case creationDate = 2
        /// The time at which its file last changed in any way: content, name, times.
        case changeDate = 3
    }

    /// A Boolean value that indicates whether a `CACHEDIR.TAG` file is written into the cache directory; backup programs skip such
    /// directories. True by default. Written when the directory is opened or created again.
    public var writesCacheDirectoryTag: Bool = true
    /// A Boolean value that indicates whether stores and queries write to memory. True by default. Memory is always read, and
    /// ``ImageCache/storeToMemory(_:forKey:)`` always writes.
    public var shouldCacheImagesInMemory: Bool = true
    /// A Boolean value that indicates whether an image that was evicted from memory is found while it is still in use. False by
    /// default.
    public var shouldUseWeakMemoryCache: Bool = false
    /// A Boolean value that indicates whether ``ImageCache/prepareForExit(within:)`` removes expired entries. True by default.
    public var shouldRemoveExpiredDataWhenTerminate: Bool = true
    /// A Boolean value that indicates whether ``ImageCache/didEnterBackground()`` removes expired entries. True by default.
    public var shouldRemoveExpiredDataWhenEnterBackground: Bool = true
    /// The share that ``ImageCache/didEnterBackground()`` leaves in memory, 0...1: of ``maxMemoryCost``, or of the current cost if
    /// that sets no limit. A quarter by default; 1 leaves everything. A custom memory level decides for itself.
    public var backgroundMemoryShare: Double = 0.25
    /// The interval of automatic expiry passes in seconds, whether the cache is in use or not; 0 for none. One hour by default. The
    /// first pass runs one interval after the cache was created. A pass takes half a second at most; if it is not complete, it
    /// continues a minute later.
    public var expiryInterval: Double = 3_600
    /// Directories that are read if an entry is not on disk, in this order; none by default. Each may belong to another cache of
    /// this library, or to SDWebImage: plain files, named by the key's MD5 with or without the key's extension. These directories
    /// are never modified, and `containsImage` ignores them.
    public var readOnlyDirectories: [String] = []
    /// A Boolean value that indicates whether entries are mapped into memory instead of read. False by default. Saves memory with
    /// big entries that are read in part; but a program that truncates a mapped file crashes the reader. This library never
    /// truncates files.
    public var mapsDiskData: Bool = false
    /// A Boolean value that indicates whether a store keeps an existing entry. False by default.
    public var writesWithoutOverwriting: Bool = false
    /// The age at which a disk entry expires, in seconds; negative for never, 0 for the next pass. One week by default.
    public var maxDiskAge: Double = 604_800
    /// The maximum disk space of all entries in bytes; 0 for no limit, the default.
    ///
    /// Enforced while the cache is in use: a store that exceeds it evicts the oldest entries, a few at a time. A pass of
    /// ``DiskCache/removeExpiredData(timeLimit:)`` that finds the limit exceeded trims to below half of it. Data that is bigger
    /// than the limit is not stored.
    ///
    /// The size of an existing directory is determined step by step, so that no store has to wait for a full walk. In a directory
    /// of more than 250 entries, the limit may be exceeded until that is done, by at most the bytes that are stored in the
    /// meantime.
    public var maxDiskSize: Int = 0
    /// The maximum number of bytes of pixels in memory; 0 for no limit. By default, a share of the memory that this process may
    /// use.
    public var maxMemoryCost: Int = MemoryCache.defaultCostLimit
    /// The maximum number of images in memory; 0 for no limit, the default.
    public var maxMemoryCount: Int = 0
    /// The timestamp of an entry that counts. The time of the last access by default.
    public var diskCacheExpireType: ExpireType = .accessDate
    /// The maximum number of bytes of pending disk writes: encoded data, and the pixels of images that are not encoded yet. 64 MiB
    /// by default. If it is exceeded, the oldest pending writes are dropped.
    public var maxPendingWriteBytes: Int = 64 << 20
    /// The maximum number of concurrent disk operations of a cache. 4 by default, at least 1.
    public var maxConcurrentDiskOperations: Int = 4
    /// Creates the memory level of a cache, in place of a ``MemoryCache``; nil by default. Called once, when the cache is created.
    public var makeMemoryCache: (@Sendable (ImageCacheConfig) -> any MemoryCaching)?
    /// Creates the disk level of a cache for a directory, in place of a ``DiskCache``; nil by default. Called once, when the cache
    /// is created.
    public var makeDiskCache: (@Sendable (_ path: String, _ config: ImageCacheConfig) -> any DiskCaching)?

    /// Creates a configuration with the defaults.
    public init() {}

    /// The configuration of caches that are created without one. A change affects caches created afterwards.
    public static var `default`: ImageCacheConfig {
        get { template.withLock { $0 } }
        set { template.withLock { $0 = newValue } }
    }

    private static let template = Lock(ImageCacheConfig())
}
