import FoundationEssentials
import Glibc

/// A cache of images in memory and their encoded bytes on disk.
///
/// Memory is read and written on the caller's thread, in about a tenth of a microsecond. Disk work runs on dedicated threads of the
/// cache. A method that is named or documented as synchronous does it on the caller's thread instead, and must not be called on the
/// main thread or on one of Swift's cooperative threads. All other methods may be called from any thread.
///
/// A stored entry is found from the moment `store` returns, even while its write is pending (write-behind). Work on one key takes
/// effect in the order of the calls. An empty key means no key: nothing is stored or found under it.
public final class ImageCache: ImageCaching {
    /// The memory level.
    public let memoryCache: any MemoryCaching
    /// The disk level. Its methods work on the caller's thread and ignore pending writes.
    public let diskCache: any DiskCaching

    struct State {
        var config: ImageCacheConfig
        var additionalCachePath: (@Sendable (String) -> String?)?
        /// The time of the next expiry pass, on the monotonic clock.
        var nextExpiry: UInt64
        /// The generation of `config`.
        var version: UInt64 = 0
    }

    var state: Lock<State> { upkeep.state }
    var writes: Lock<WriteBehindQueue> { upkeep.writes }
    var known: Lock<CachedValidatorsTable> { upkeep.known }
    /// The budget of this cache; nil for that of the process.
    let decodeBudget = Lock<DecodedMemoryBudget?>(nil)
    /// The memory budget that limits decodes for this cache.
    package var budget: DecodedMemoryBudget { decodeBudget.withLock { $0 } ?? .shared }
    let diskQueue: WorkQueue
    package let codingQueue: WorkQueue
    /// Encodes images that are stored without a coder and without bytes; if nil, those stay only in memory.
    let coder: (any ImageCoder)?
    let clock: ClockSource
    let upkeep: CacheMaintenance
    /// The sizes of images in memory.
    let variants = Lock(VariantIndex())

    /// Creates a cache with a separate directory, created if needed: `namespace` in `directory`.
    ///
    /// - Parameters:
    ///   - namespace: the name of the directory; "/" and NUL in it become "_".
    ///   - directory: the parent directory; ``defaultDiskCacheDirectory`` if nil.
    ///   - config: the configuration, which is copied.
    ///   - coder: encodes images that are stored without bytes and without a coder. If nil, those stay only in memory.
    public convenience init(
        namespace: String = "default",
        directory: String? = nil,
        config: ImageCacheConfig = .default,
        coder: (any ImageCoder)?
    ) {
        let path = Self.diskCachePath(namespace: namespace, directory: directory)
        self.init(path: path, config: config, coder: coder, clock: .system)
    }

    /// Returns the directory of the disk level of a cache that is created with these arguments.
    public static func diskCachePath(namespace: String = "default", directory: String? = nil) -> String {
        (directory ?? defaultDiskCacheDirectory) + "/" + directoryName(namespace)
    }

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - diskQueue: the queue for disk work, in place of dedicated threads of the cache.
    ///   - codingQueue: the queue on which images are decoded and encoded.
    package init(
        path: String,
        config: ImageCacheConfig,
        coder: (any ImageCoder)?,
        clock: ClockSource,
        delays: DelaySource = .system,
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
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        memoryCache = config.makeMemoryCache?(config) ?? MemoryCache(name: name)
        let diskQueue = diskQueue ?? WorkQueue(name: "cache-disk", width: config.maxConcurrentDiskOperations)
        self.diskQueue = diskQueue
        upkeep = CacheMaintenance(
            memoryCache: memoryCache,
            diskCache: diskCache,
            config: config,
            diskQueue: diskQueue,
            clock: clock,
            delays: delays
        )
        memoryCache.apply(config)
        writes.withLock { $0.apply(config) }
        CacheRegistry.shared.add(upkeep)
        DecodedMemoryBudget.shared.attach(upkeep)
        upkeep.setTimer()
        // A walk through a big directory takes long, so it does not run on the caller's thread.
        if let disk = diskCache as? DiskCache { diskQueue.submit(priority: .low) { disk.sweepTemporaryFiles() } }
    }

    /// The configuration in use; a change takes effect at once. Two threads that change properties one by one may undo each other's
    /// changes: set the whole value in that case.
    public var config: ImageCacheConfig {
        get { state.withLock { $0.config } }
        set {
            var (isOtherInterval, isOtherPlace) = (false, false)
            var applied = state.withLock { state -> (ImageCacheConfig, UInt64) in
                if state.config.expiryInterval != newValue.expiryInterval {
                    state.nextExpiry = CacheMaintenance.nextExpiry(after: clock, newValue)
                    isOtherInterval = true
                }
                isOtherPlace = state.config.readOnlyDirectories != newValue.readOnlyDirectories
                state.config = newValue
                state.version += 1
                return (newValue, state.version)
            }
            if isOtherInterval { upkeep.setTimer() }
            if isOtherPlace { changePlaces() }
            // Runs without the lock, because evicted images are reported to the user's code. A thread that detects a concurrent
            // change applies that one again, so the last one wins everywhere.
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

    /// Returns the path of the file for the entry of `key`, whether it exists or not; nil for an empty key.
    public func cachePath(forKey key: String) -> String? { key.isEmpty ? nil : diskCache.cachePath(forKey: key) }

    /// Returns the path of another file to read for a key, or nil for none. Called on a thread of the cache if an entry is not on
    /// disk; the file is never modified, and `containsImage` ignores it. The file may be any image, or an entry of another cache.
    public var additionalCachePath: (@Sendable (_ key: String) -> String?)? {
        get { state.withLock { $0.additionalCachePath } }
        set {
            state.withLock { $0.additionalCachePath = newValue }
            changePlaces()
        }
    }

    // MARK: Directories

    private static let chosenDirectory = Lock<String?>(nil)

    /// The parent directory of caches that are created without one; by default, `webimage` in the user's cache directory
    /// (`$XDG_CACHE_HOME`, else `~/.cache`). Affects caches created afterwards. An empty string restores the default.
    public static var defaultDiskCacheDirectory: String {
        get {
            chosenDirectory.withLock { $0 }
                ?? userCacheDirectory + "/webimage"
        }
        set { chosenDirectory.withLock { $0 = newValue.isEmpty ? nil : newValue } }
    }

    /// The XDG base directory for caches: `$XDG_CACHE_HOME`, else `~/.cache`.
    package static var userCacheDirectory: String {
        userCacheDirectory(cacheHome: environment("XDG_CACHE_HOME"), home: environment("HOME"))
    }

    /// Returns the XDG base directory for caches. Relative paths are ignored, as the specification requires.
    static func userCacheDirectory(cacheHome: String?, home: String?) -> String {
        if let cacheHome, cacheHome.hasPrefix("/") { return CacheDirectory.absolute(cacheHome) }
        if let home, home.hasPrefix("/") { return CacheDirectory.absolute(home) + "/.cache" }
        if let user = getpwuid(geteuid()), let directory = user.pointee.pw_dir {
            return String(cString: directory) + "/.cache"
        }
        return "/tmp/webimage-\(geteuid())"
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Converts a namespace to a valid name of one directory.
    static func directoryName(_ namespace: String) -> String {
        let name = String(
            decoding: namespace.utf8.map { $0 == 0 || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self
        )
        return ["", ".", ".."].contains(name) ? "default" : name
    }
}
