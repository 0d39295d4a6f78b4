import FoundationEssentials

/// Keeps parts of bodies that broke off: entries of a disk cache of its own, whose keys are digests.
///
/// The disk is only touched on ``queue``. Whether there is anything for a request is known without it once the directory has been
/// read, so downloads that nothing is kept for do not wait.
final class PartialDownloads: PartialBodyStore {
    /// How much is kept, and for how long.
    struct Limits: Sendable, Hashable {
        /// Bytes of all files together.
        var byteCount = 64 << 20
        /// Seconds after the last write.
        var age = 7.0 * 86_400
    }

    private struct State {
        var limits: Limits
        var cache: DiskCache?
        /// The hashes of the URLs of all parts, and of some that are gone; nil until the directory has been read.
        var urls: Set<UInt64>?
        /// When the directory was last read, in monotonic nanoseconds.
        var readAt: UInt64 = 0
        var isReading = false
        /// What is still to be stored, or removed where it is nil: for each key the latest wish.
        var wishes: [PartialKey: PartialDownload?] = [:]
    }

    /// For how many nanoseconds a reading of the directory holds: other processes leave parts there, too.
    static let refreshInterval: UInt64 = 10_000_000_000
    private static let sharedQueue = WorkQueue(name: "webimage-partial", width: 1)

    let directory: String
    let queue: WorkQueue
    private let clock: ClockSource
    private let calls: FileCalls
    private let state: Lock<State>

    /// - Parameter queue: runs one job at a time.
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
    }

    /// The store that a config asks for. The present one stays if its directory does.
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

    /// Where the files are: apart, so that no other cache takes them for its own, nor this one those of another.
    var path: String { directory + "/bodies" }

    /// A smaller bound makes the oldest go at once.
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

    // MARK: From any thread

    func find(
        _ request: DownloadRequest,
        limit: Int,
        completion: @escaping @Sendable (PartialDownload?) -> Void
    ) -> Bool {
        let now = clock.monotonicNanoseconds()
        let (isNothing, mustRead) = state.withLock { state -> (Bool, Bool) in
            // Where nothing is to be kept nothing is used, and what there is goes.
            let isOff = state.limits.byteCount <= 0
            let isDue = state.urls == nil ? isOff : now &- state.readAt > Self.refreshInterval
            let mustRead = isDue && !state.isReading
            if mustRead { state.isReading = true }
            return (isOff || state.urls?.isEmpty ?? false, mustRead)
        }
        if mustRead { queue.submit { self.tidyUp() } }
        guard !isNothing else { return false }
        // A key takes longer to make than most downloads can spare.
        let url = PartialKey.hash(of: request.url.absoluteString)
        guard state.withLock({ $0.urls?.contains(url) ?? true }), let key = PartialKey(request) else { return false }
        queue.submit { completion(self.read(key, limit: limit)) }
        return true
    }

    func save(_ part: PartialDownload, completion: (@Sendable () -> Void)? = nil) {
        post(part, part.head.key)
        if let completion { queue.submit(completion) }
    }

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
        // With room for the trailer: a part that is too big must not evict others.
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

    /// Removes what is too old or too much, and reads which parts there are.
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
            // What is still to be written is not there yet.
            state.urls = state.wishes.reduce(into: urls) { if $1.value != nil { $0.insert($1.key.urlHash) } }
            state.readAt = time
            state.isReading = false
        }
    }

    /// The cache with the present limits; nil where there is no directory yet, unless it is to be made.
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
