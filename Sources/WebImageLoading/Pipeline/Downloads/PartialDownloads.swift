import FoundationEssentials

/// Stores the bodies of interrupted downloads, so that they can resume. A separate disk cache, whose keys are digests.
///
/// The disk is accessed only on ``queue``. Once the directory has been read, lookups of missing parts need no disk access, so
/// downloads without a stored part do not wait.
final class PartialDownloads: PartialBodyStore, PendingWrites {
    /// The limits of size and age.
    struct Limits: Sendable, Hashable {
        /// The maximum bytes of all files together.
        var byteCount = 64 << 20
        /// The maximum seconds after the last write.
        var age = 7.0 * 86_400
    }

    private struct State {
        var limits: Limits
        var cache: DiskCache?
        /// The URL hashes of all parts, and of some removed ones; nil until the directory has been read.
        var urls: Set<UInt64>?
        /// The time of the last directory read, in monotonic nanoseconds.
        var readAt: UInt64 = 0
        var isReading = false
        /// The pending writes, or removals (nil): the latest one for each key.
        var wishes: [PartialKey: PartialDownload?] = [:]
    }

    /// The nanoseconds until the directory is read again: other processes store parts there, too.
    static let refreshInterval: UInt64 = 10_000_000_000
    private static let sharedQueue = WorkQueue(name: "webimage-partial", width: 1)

    let directory: String
    let queue: WorkQueue
    private let clock: ClockSource
    private let calls: FileCalls
    private let state: Lock<State>

    /// - Parameter queue: Must be serial.
    init(
        directory: String,
        limits: Limits = Limits(),
        clock: ClockSource = .system,
        calls: FileCalls = .system,
        queue: WorkQueue? = nil
    ) {
        self.directory = CacheDirectory.absolute(directory)
        self.clock = clock
        self.calls = calls
        self.queue = queue ?? Self.sharedQueue
        state = Lock(State(limits: limits))
        CacheRegistry.shared.add(self)
    }

    /// Returns the store for a config. An existing one stays if its directory does.
    static let asConfigured: PartialBodyStoreMaker = { config, former, clock in
        let config = config.withinPolicy
        guard let directory = config.partialDownloadDirectory, !directory.isEmpty else { return nil }
        let limits = Limits(byteCount: max(config.maximumPartialByteCount, 0), age: config.maximumPartialAge)
        if let former = former as? PartialDownloads, former.directory == CacheDirectory.absolute(directory) {
            former.limits = limits
            return former
        }
        return PartialDownloads(directory: directory, limits: limits, clock: clock)
    }

    /// The directory of the files, separate so that this cache and others do not mix their files.
    var path: String { directory + "/bodies" }

    /// The limits. Smaller ones remove the oldest parts at once.
    var limits: Limits {
        get { state.withLock { $0.limits } }
        set {
            let isSmaller = state.withLock { state -> Bool in
                defer { state.limits = newValue }
                return newValue.byteCount < state.limits.byteCount || newValue.age < state.limits.age
            }
            if isSmaller { queue.submit { self.tidyUp() } }
        }
    }

    // MARK: Thread-safe

    func find(
        _ request: DownloadRequest,
        limit: Int,
        completion: @escaping @Sendable (PartialDownload?) -> Void
    ) -> Bool {
        let now = clock.monotonicNanoseconds()
        let (isNothing, mustRead) = state.withLock { state -> (Bool, Bool) in
            // With a limit of 0, stored parts are not used, and are removed.
            let isOff = state.limits.byteCount <= 0
            let isDue = state.urls == nil ? isOff : now &- state.readAt > Self.refreshInterval
            let mustRead = isDue && !state.isReading
            if mustRead { state.isReading = true }
            return (isOff || state.urls?.isEmpty ?? false, mustRead)
        }
        if mustRead { queue.submit { self.tidyUp() } }
        guard !isNothing else { return false }
        // Creating a key takes too long for most downloads.
        let url = PartialKey.hash(of: request.url.absoluteString)
        guard state.withLock({ $0.urls?.contains(url) ?? true }), let key = PartialKey(request) else { return false }
        queue.submit { completion(self.read(key, limit: limit)) }
        return true
    }

    func save(_ part: PartialDownload, completion: (@Sendable () -> Void)? = nil) {
        post(part, part.head.key)
        if let completion { flush(completion: completion) }
    }

    func flush(completion: @escaping @Sendable () -> Void) { queue.submit(completion) }

    func remove(_ key: PartialKey) { post(nil, key) }

    func removeAll(completion: (@Sendable () -> Void)? = nil) {
        queue.submit {
            self.cache(making: false)?.removeAllData()
            self.tidyUp()
            completion?()
        }
    }

    private func post(_ part: PartialDownload?, _ key: PartialKey) {
        let isFirst = state.withLock { state -> Bool in
            if part != nil { state.urls?.insert(key.urlHash) }
            guard case .none = state.wishes.updateValue(part, forKey: key) else { return false }
            return true
        }
        if isFirst { queue.submit { self.grant(key) } }
    }

    // MARK: On the queue

    private func grant(_ key: PartialKey) {
        let (wish, limits) = state.withLock { ($0.wishes.removeValue(forKey: key) ?? nil, $0.limits) }
        guard let wish else {
            cache(making: false)?.removeData(forKey: key.text)
            return
        }
        let entry = wish.entry
        // Leaves space for the trailer: a part that is too big must not evict others.
        guard entry.extendedData != nil, entry.data.count <= limits.byteCount - (4 << 10) else { return }
        cache(making: true)?.store(entry, forKey: key.text)
    }

    private func read(_ key: PartialKey, limit: Int) -> PartialDownload? {
        let (limits, isKnown) = state.withLock { ($0.limits, $0.urls != nil) }
        let entry = cache(making: false)?.read(key.text)
        let age = entry.map { clock.wallTime() - Double($0.footer.created) / 1e9 } ?? 0
        if !isKnown || age > limits.age { tidyUp() }
        guard let entry, entry.footer.bodyLength <= limit, let cache = cache(making: false),
            cache.containsData(forKey: key.text)
        else { return nil }
        return PartialDownload(entry.content, key: key)
    }

    /// Removes expired and surplus parts, and reads the list of parts.
    private func tidyUp() {
        var urls: Set<UInt64> = []
        if let cache = cache(making: false) {
            if limits.byteCount > 0 { cache.removeExpiredData(trimsExactly: true) } else { cache.removeAllData() }
            DirectoryScan(path: path, calls: calls).forEachEntry { item, _ in
                if let url = PartialKey.urlHash(inFileName: item.string) { urls.insert(url) }
                return true
            }
        }
        let time = clock.monotonicNanoseconds()
        state.withLock { state in
            // Pending writes are not in the directory yet.
            state.urls = state.wishes.reduce(into: urls) { if $1.value != nil { $0.insert($1.key.urlHash) } }
            state.readAt = time
            state.isReading = false
        }
    }

    /// The cache with the current limits; nil if the directory does not exist, unless it is to be created.
    private func cache(making: Bool) -> DiskCache? {
        let (limits, former) = state.withLock { ($0.limits, $0.cache) }
        guard former != nil || making || (try? CacheDirectory(path: path).open()) != nil else { return nil }
        var config = ImageCacheConfig()
        config.maxDiskSize = limits.byteCount
        config.maxDiskAge = max(limits.age, 0)
        config.diskCacheExpireType = .modificationDate
        let cache = former ?? DiskCache(path: path, config: config, clock: clock, calls: calls)
        cache.config = config
        state.withLock { $0.cache = cache }
        return cache
    }
}
