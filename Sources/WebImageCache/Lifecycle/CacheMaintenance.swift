/// The maintenance of a cache: expiry passes and reactions to lifecycle events.
///
/// Timers and the registry hold this object weakly instead of the cache, whose retains and releases weak references would make
/// slower.
package final class CacheMaintenance: Sendable {
    /// The maximum duration of a pass, in seconds, before it lets other disk work run.
    static let passSeconds = 0.5
    /// The time, in seconds, after which an incomplete pass is resumed, unless the next one is due before.
    static let resumeSeconds = 60.0

    let memoryCache: any MemoryCaching
    let diskCache: any DiskCaching
    let state: Lock<ImageCache.State>
    let writes = Lock(WriteBehindQueue())
    let known = Lock(CachedValidatorsTable())
    let diskQueue: WorkQueue
    let clock: ClockSource
    private let delays: DelaySource
    /// Cancels the timer.
    private let timer = Lock<(@Sendable () -> Void)?>(nil)
    private let isScanning = Lock(false)

    init(
        memoryCache: any MemoryCaching,
        diskCache: any DiskCaching,
        config: ImageCacheConfig,
        diskQueue: WorkQueue,
        clock: ClockSource,
        delays: DelaySource
    ) {
        self.memoryCache = memoryCache
        self.diskCache = diskCache
        state = Lock(ImageCache.State(config: config, nextExpiry: Self.nextExpiry(after: clock, config)))
        self.diskQueue = diskQueue
        self.clock = clock
        self.delays = delays
    }

    // MARK: Expiry passes

    /// Returns the time of the pass that is due one interval from now.
    static func nextExpiry(after clock: ClockSource, _ config: ImageCacheConfig) -> UInt64 {
        guard config.expiryInterval > 0 else { return .max }
        return clock.monotonicNanoseconds() &+ nanoseconds(config.expiryInterval)
    }

    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(min(max(seconds, 0), 1e9) * 1e9) }

    /// Starts a pass if one is due.
    func maintainIfDue() {
        let now = clock.monotonicNanoseconds()
        let isDue = state.withLock { state in
            guard now >= state.nextExpiry else { return false }
            state.nextExpiry = Self.nextExpiry(after: clock, state.config)
            return true
        }
        if isDue { diskQueue.submit(priority: .low) { self.runPass() } }
    }

    private func runPass() {
        guard !removeExpiredData(timeLimit: Self.passSeconds).isComplete else { return }
        let now = clock.monotonicNanoseconds()
        state.withLock { state in
            // Passes were disabled in the meantime.
            guard state.config.expiryInterval > 0 else { return }
            state.nextExpiry = min(state.nextExpiry, now &+ Self.nanoseconds(Self.resumeSeconds))
        }
        setTimer()
    }

    /// Runs a pass and forgets the validators of removed entries. Blocks.
    @discardableResult
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup {
        let cleanup = diskCache.removeExpiredData(timeLimit: timeLimit)
        guard cleanup.expiredCount + cleanup.trimmedCount > 0 else { return cleanup }
        for key in known.withLock({ $0.keys }) where !diskCache.containsData(forKey: key) {
            // Under the lock that a store takes before known validators change: those of pending writes stay.
            let name = MemoryCacheKey(key)
            writes.withLock { writes in
                guard writes.pending(name).source == nil else { return }
                known.withLock { $0.set(nil, forKey: key) }
            }
        }
        return cleanup
    }

    /// Sets the timer for the next pass. Called when the due time has changed.
    func setTimer() {
        let next = state.withLock { $0.nextExpiry }
        let now = clock.monotonicNanoseconds()
        // Another thread may have started the pass since: then it is due in an interval, not now.
        let delay = max(next &- min(now, next), 10_000_000)
        timer.withLock { cancel in
            cancel?()
            cancel = next == .max ? nil : delays.after(delay) { [weak self] in self?.timerFired() }
        }
    }

    deinit { timer.withLock { $0?() } }

    /// The clock decides whether a pass is due, because the timer may be early or late.
    func timerFired() {
        maintainIfDue()
        setTimer()
    }

    // MARK: Walks for the size limit

    /// Continues a walk that a store has begun, in short steps between other work.
    func continueScan() {
        guard let disk = diskCache as? DiskCache, state.withLock({ $0.config.maxDiskSize > 0 }) else { return }
        let begins = isScanning.withLock { isScanning -> Bool in
            defer { isScanning = true }
            return !isScanning
        }
        if begins { submitScanStep(disk) }
    }

    private func submitScanStep(_ disk: DiskCache) {
        diskQueue.submit(priority: .low) { [weak self] in
            guard let self else { return }
            if disk.continueScan() {
                submitScanStep(disk)
            } else {
                isScanning.withLock { $0 = false }
            }
        }
    }

    // MARK: Lifecycle events

    /// Waits until there are no pending writes, at most `seconds`. Returns whether there are none.
    func waitUntilWritten(within seconds: Double) -> Bool {
        let latch = Latch()
        let isBusy = writes.withLock { $0.whenIdle { latch.open() } }
        guard isBusy else { return true }
        diskQueue.hurry()
        return latch.wait(seconds: seconds)
    }

    /// Removes expired entries at the end of the program, if the configuration enables it. Returns whether it was done in time.
    func trimForExit(within seconds: Double) -> Bool {
        guard state.withLock({ $0.config.shouldRemoveExpiredDataWhenTerminate }) else { return true }
        return diskCache.removeExpiredData(timeLimit: max(seconds, 0)).isComplete
    }

    func didEnterBackground() {
        let config = state.withLock { $0.config }
        // Releasing many images takes time, too.
        diskQueue.submit(priority: .low) {
            self.memoryCache.didEnterBackground(leaving: config.backgroundMemoryShare)
            guard config.shouldRemoveExpiredDataWhenEnterBackground else { return }
            self.removeExpiredData(timeLimit: nil)
        }
    }

    package func didReceiveMemoryWarning() {
        memoryCache.didReceiveMemoryWarning()
        known.withLock { $0.removeAll() }
    }
}

extension CacheMaintenance: PixelHolder {
    /// Evicts images, the least valuable first.
    package func makeRoom(_ missing: () -> Int) {
        guard let memory = memoryCache as? MemoryCache else { return memoryCache.didReceiveMemoryWarning() }
        while case let cost = memory.totalCost, cost > 0, case let missing = missing(), missing > 0 {
            memory.trim(toCost: max(cost - missing, 0))
        }
        // Images with a cost of 0 have pixels, too.
        if missing() > 0 { memory.didReceiveMemoryWarning() }
    }
}

extension DecodedMemoryBudget {
    /// Attaches a cache's memory, so that the budget evicts from it when it is full. Managers attach their caches; ``shared``
    /// already knows all caches of the process. The cache's own queries then decode within this budget.
    package func attach(_ cache: ImageCache) {
        guard !isProcessWide else { return }
        cache.decodeBudget.withLock { $0 = self }
        attach(cache.upkeep)
    }
}
