/// How an ``ImageCache`` and its ``DiskCache`` behave.
///
/// A cache takes a copy when it is made; change it later through the cache's own `config`. Every property takes effect at
/// once there, except where its text says otherwise.
public struct ImageCacheConfig: Sendable {
    /// The time of a disk entry by which it expires and by which the oldest goes first.
    public enum ExpireType: Int, Sendable, Hashable, CaseIterable {
        /// When it was last read or stored.
        case accessDate = 0
        /// When its file was last written.
        case modificationDate = 1
        /// When its bytes were stored. Slower than the others, because every file has to be opened to know.
        case creationDate = 2
        /// When anything about its file last changed: content, name, times.
        case changeDate = 3
    }

    /// Whether a `CACHEDIR.TAG` file is put into the cache directory, which tells backup programs to leave it out.
    /// True by default. Written when the directory is opened or made again.
    public var writesCacheDirectoryTag: Bool = true
    /// Whether storing and querying write to memory. True by default. Reads look there in any case, and
    /// ``ImageCache/storeToMemory(_:forKey:)`` writes in any case.
    public var shouldCacheImagesInMemory: Bool = true
    /// Whether an image that was evicted from memory is found again as long as somebody still holds it. False by default.
    public var shouldUseWeakMemoryCache: Bool = false
    /// Whether ``ImageCache/prepareForExit(within:)`` removes expired entries. True by default.
    public var shouldRemoveExpiredDataWhenTerminate: Bool = true
    /// Whether ``ImageCache/didEnterBackground()`` removes expired entries. True by default.
    public var shouldRemoveExpiredDataWhenEnterBackground: Bool = true
    /// How much ``ImageCache/didEnterBackground()`` leaves in memory: a share of ``maxMemoryCost``, 0...1, or of what there is when
    /// that sets no limit. A quarter by default; 1 leaves everything. A memory level of one's own decides for itself.
    public var backgroundMemoryShare: Double = 0.25
    /// Seconds between the passes that a cache makes by itself to remove expired entries, in use or not; 0 for none. One
    /// hour by default. The first one comes that long after the cache was made. A pass works for half a second at most; if
    /// there is more to do it goes on a minute later.
    public var expiryInterval: Double = 3_600
    /// Directories that are read when an entry is not on disk, in this order; none by default. Each may be that of another
    /// cache of this library, or one that SDWebImage has made: plain files, named by the key's MD5 with or without the key's
    /// extension. Nothing is ever written or removed there, nor is it looked there whether the cache contains a key.
    public var readOnlyDirectories: [String] = []
    /// Whether entries are mapped into memory instead of read. False by default. Saves memory with big entries that are
    /// read in part; but a program that truncates a mapped file makes the reader crash. This library never does.
    public var mapsDiskData: Bool = false
    /// Whether a store leaves an entry alone that exists already. False by default.
    public var writesWithoutOverwriting: Bool = false
    /// Seconds after which a disk entry expires; negative for never, 0 for at the next pass. One week by default.
    public var maxDiskAge: Double = 604_800
    /// Most bytes of disk space that entries take; 0 for no limit, the default.
    ///
    /// Holds while the cache is in use: when a store exceeds it, the oldest entries go, a few at a time. A pass of
    /// ``DiskCache/removeExpiredData(timeLimit:)`` that finds more goes down to below half of it. Data that is bigger than
    /// the limit is not stored.
    ///
    /// What is in the directory already is found out little by little, so that no store has to wait for a walk through all of
    /// it. In a directory of more than 250 entries the limit may be exceeded until that is done, by at most what is stored
    /// meanwhile.
    public var maxDiskSize: Int = 0
    /// Most bytes of pixels in memory; 0 for no limit. By default a share of the memory this process may use.
    public var maxMemoryCost: Int = MemoryCache.defaultCostLimit
    /// Most images in memory; 0 for no limit, the default.
    public var maxMemoryCount: Int = 0
    /// Which time of an entry counts. The time of the last access by default.
    public var diskCacheExpireType: ExpireType = .accessDate
    /// Most bytes that wait to be written to disk: encoded data, and the pixels of images still to be encoded. 64 MiB by
    /// default. When more comes, the writes that have waited longest are given up.
    public var maxPendingWriteBytes: Int = 64 << 20
    /// Most disk operations of a cache at once. 4 by default, at least 1.
    public var maxConcurrentDiskOperations: Int = 4
    /// Makes the memory level of a cache, in place of a ``MemoryCache``; nil by default. Asked once, when the cache is made.
    public var makeMemoryCache: (@Sendable (ImageCacheConfig) -> any MemoryCaching)?
    /// Makes the disk level of a cache for a directory, in place of a ``DiskCache``; nil by default. Asked once, when the
    /// cache is made.
    public var makeDiskCache: (@Sendable (_ path: String, _ config: ImageCacheConfig) -> any DiskCaching)?

    /// Every property at its default.
    public init() {}

    /// The configuration of caches that are made without one. Changing it affects caches made afterwards.
    public static var `default`: ImageCacheConfig {
        get { template.withLock { $0 } }
        set { template.withLock { $0 = newValue } }
    }

    private static let template = Lock(ImageCacheConfig())
}
