import FoundationEssentials
import Glibc

/// Images in memory and their encoded bytes on disk.
///
/// Memory is read and written on the caller's thread, in about a tenth of a microsecond. Disk work runs on threads of the
/// cache's own; a method whose name or documentation says that it is synchronous does it on the caller's thread instead and
/// must not be called on the main thread or on one of Swift's cooperative threads. All methods may be called from any
/// thread otherwise.
///
/// What was stored is found from the moment `store` returns, also while it still waits to be written. Work on one key takes
/// effect in the order of the calls. An empty key stands for none: nothing is stored or found under it.
public final class ImageCache: ImageCaching {
    /// The level of memory.
    public let memoryCache: any MemoryCaching
    /// The level of disk. Its methods work on the caller's thread and know nothing of what waits to be written.
    public let diskCache: any DiskCaching

    struct State {
        var config: ImageCacheConfig
        var additionalCachePath: (@Sendable (String) -> String?)?
        /// When the next pass for expired entries is due, on the monotonic clock.
        var nextExpiry: UInt64
        /// Counts the changes of `config`.
        var version: UInt64 = 0
    }

    var state: Lock<State> { upkeep.state }
    var writes: Lock<WriteBehindQueue> { upkeep.writes }
    var known: Lock<KnownValidatorsTable> { upkeep.known }
    /// Nil for that of the process.
    let decodeBudget = Lock<DecodedMemoryBudget?>(nil)
    /// The memory budget that limits decodes for this cache.
    package var budget: DecodedMemoryBudget { decodeBudget.withLock { $0 } ?? .shared }
    let diskQueue: WorkQueue
    package let codingQueue: WorkQueue
    /// What encodes images that are stored without a coder and without bytes; nil to keep those in memory only.
    let coder: (any ImageCoder)?
    let clock: ClockSource
    let upkeep: CacheUpkeep

    /// A cache of its own directory, made if needed: `namespace` in `directory`.
    ///
    /// - Parameters:
    ///   - namespace: the name of the directory; "/" and NUL in it become "_".
    ///   - directory: where that is; ``defaultDiskCacheDirectory`` if nil.
    ///   - config: copied.
    ///   - coder: encodes images that are stored without bytes and without a coder of their own. With nil those are kept in
    ///     memory only.
    public convenience init(
        namespace: String = "default",
        directory: String? = nil,
        config: ImageCacheConfig = .default,
        coder: (any ImageCoder)?
    ) {
        let path = Self.diskCachePath(namespace: namespace, directory: directory)
        self.init(path: path, config: config, coder: coder, clock: .system)
    }

    /// The directory of the disk level of a cache that is made with these arguments.
    public static func diskCachePath(namespace: String = "default", directory: String? = nil) -> String {
        (directory ?? defaultDiskCacheDirectory) + "/" + directoryName(namespace)
    }

    /// - Parameters:
    ///   - diskQueue: where disk work is done, in place of threads of the cache's own.
    ///   - codingQueue: where images are decoded and encoded.
    package init(
        path: String,
        config: ImageCacheConfig,
        coder: (any ImageCoder)?,
        clock: ClockSource,
        calls: FileCalls = .system,
        diskQueue: WorkQueue? = nil,
        codingQueue: WorkQueue = CodingQueue.shared
    ) {
        self.coder = coder
        self.clock = clock
        self.codingQueue = codingQueue
        if let makeDiskCache = config.makeDiskCache {
            diskCache = makeDiskCache(path, config)
        } else {
            diskCache = DiskCache(path: path, config: config, clock: clock, calls: calls, sweeps: false)
        }
        memoryCache = config.makeMemoryCache?(config) ?? MemoryCache()
        let diskQueue = diskQueue ?? WorkQueue(name: "cache-disk", width: config.maxConcurrentDiskOperations)
        self.diskQueue = diskQueue
        upkeep = CacheUpkeep(
            memoryCache: memoryCache,
            diskCache: diskCache,
            config: config,
            diskQueue: diskQueue,
            clock: clock
        )
        memoryCache.apply(config)
        writes.withLock { $0.apply(config) }
        CacheRegistry.shared.add(upkeep)
        DecodedMemoryBudget.shared.attach(upkeep)
        upkeep.setTimer()
        // A big directory takes long to walk through: not on the caller's thread.
        if let disk = diskCache as? DiskCache { diskQueue.submit(priority: .low) { disk.sweepTemporaryFiles() } }
    }

    /// The configuration in use; a change takes effect at once. Two threads that change properties one by one may undo each
    /// other's changes: set the whole value then.
    public var config: ImageCacheConfig {
        get { state.withLock { $0.config } }
        set {
            var (isOtherInterval, isOtherPlace) = (false, false)
            var applied = state.withLock { state -> (ImageCacheConfig, UInt64) in
                if state.config.expiryInterval != newValue.expiryInterval {
                    state.nextExpiry = CacheUpkeep.nextExpiry(after: clock, newValue)
                    isOtherInterval = true
                }
                isOtherPlace = state.config.readOnlyDirectories != newValue.readOnlyDirectories
                state.config = newValue
                state.version += 1
                return (newValue, state.version)
            }
            if isOtherInterval { upkeep.setTimer() }
            if isOtherPlace { changePlaces() }
            // Not with the lock held, because images that are evicted are reported to the user's code. Whoever finds that
            // another change came in between applies that one once more, so the last one wins everywhere.
            while true {
                diskCache.apply(applied.0)
                writes.withLock { $0.apply(applied.0) }
                diskQueue.width = applied.0.maxConcurrentDiskOperations
                memoryCache.apply(applied.0)
                let latest = state.withLock { ($0.config, $0.version) }
                guard latest.1 != applied.1 else { return }
                applied = latest
            }
        }
    }

    /// The directory of the disk level.
    public var diskCachePath: String { diskCache.path }

    /// The file that the entry of `key` is in, whether it exists or not; nil for an empty key.
    public func cachePath(forKey key: String) -> String? { key.isEmpty ? nil : diskCache.cachePath(forKey: key) }

    /// Where else to read: a file for a key, or nil for none. Asked on a thread of the cache when an entry is not on disk;
    /// never written, and not asked whether the cache contains a key. The file may be any picture, or an entry of another
    /// cache.
    public var additionalCachePath: (@Sendable (_ key: String) -> String?)? {
        get { state.withLock { $0.additionalCachePath } }
        set {
            state.withLock { $0.additionalCachePath = newValue }
            changePlaces()
        }
    }

    // MARK: Directories

    private static let chosenDirectory = Lock<String?>(nil)

    /// Where caches put their directories that are made without one; `webimage` in the user's cache directory
    /// (`$XDG_CACHE_HOME`, else `~/.cache`) by default. Affects caches made afterwards. An empty string brings the default
    /// back.
    public static var defaultDiskCacheDirectory: String {
        get {
            chosenDirectory.withLock { $0 }
                ?? userCacheDirectory(cacheHome: environment("XDG_CACHE_HOME"), home: environment("HOME")) + "/webimage"
        }
        set { chosenDirectory.withLock { $0 = newValue.isEmpty ? nil : newValue } }
    }

    /// The XDG base directory for caches. A relative path counts as none, as the specification demands.
    static func userCacheDirectory(cacheHome: String?, home: String?) -> String {
        if let cacheHome, cacheHome.hasPrefix("/") { return CacheDirectory.absolute(cacheHome) }
        if let home, home.hasPrefix("/") { return CacheDirectory.absolute(home) + "/.cache" }
        if let user = getpwuid(geteuid()), let directory = user.pointee.pw_dir {
            return String(cString: directory) + "/.cache"
        }
        return "/tmp/webimage-\(geteuid())"
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A namespace as the name of one directory.
    static func directoryName(_ namespace: String) -> String {
        let name = String(
            decoding: namespace.utf8.map { $0 == 0 || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self
        )
        return ["", ".", ".."].contains(name) ? "default" : name
    }
}
