/// What a cache does unasked: passes for expired entries, and what it is told at turns of the program's life.
///
/// Timers and lists of all caches hold it weakly, which would make every retain and release of the cache slower.
package final class CacheUpkeep: Sendable {
    /// Most seconds that one pass works before it lets others at the disk.
    static let passSeconds = 0.5
    /// Seconds after which a pass that did not get to its end is gone on with, if the next is not due before.
    static let resumeSeconds = 60.0

    let memoryCache: any MemoryCaching
    let diskCache: any DiskCaching
    let state: Lock<ImageCache.State>
    let writes = Lock(WriteBehindQueue())
    let known = Lock(KnownValidatorsTable())
    let diskQueue: WorkQueue
    let clock: ClockSource
    /// Takes the timer back.
    private let timer = Lock<(@Sendable () -> Void)?>(nil)
    private let isScanning = Lock(false)

    init(
        memoryCache: any MemoryCaching,
        diskCache: any DiskCaching,
        config: ImageCacheConfig,
        diskQueue: WorkQueue,
        clock: ClockSource
    ) {
        self.memoryCache = memoryCache
        self.diskCache = diskCache
        state = Lock(ImageCache.State(config: config, nextExpiry: Self.nextExpiry(after: clock, config)))
        self.diskQueue = diskQueue
        self.clock = clock
    }

    // MARK: Passes for expired entries

    /// When the next pass is due that comes one interval from now.
    static func nextExpiry(after clock: ClockSource, _ config: ImageCacheConfig) -> UInt64 {
        guard config.expiryInterval > 0 else { return .max }
        return clock.monotonicNanoseconds() &+ nanoseconds(config.expiryInterval)
    }

    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(min(max(seconds, 0), 1e9) * 1e9) }

    /// Starts a pass when one is due.
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
            // Switched off meanwhile.
            guard state.config.expiryInterval > 0 else { return }
            state.nextExpiry = min(state.nextExpiry, now &+ Self.nanoseconds(Self.resumeSeconds))
        }
        setTimer()
    }

    /// A pass; what it removed is not known any more. Blocks.
    @discardableResult
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup {
        let cleanup = diskCache.removeExpiredData(timeLimit: timeLimit)
        guard cleanup.expiredCount + cleanup.trimmedCount > 0 else { return cleanup }
        for key in known.withLock({ $0.keys }) where !diskCache.containsData(forKey: key) {
            // Under the lock that a store takes before what is known changes: what waits to be written stays known.
            let name = MemoryCacheKey(key)
            writes.withLock { writes in
                guard writes.pending(name).picture == nil else { return }
                known.withLock { $0.set(nil, forKey: key) }
            }
        }
        return cleanup
    }

    /// Has the timer fire when the next pass is due. Called when that has changed.
    func setTimer() {
        let next = state.withLock { $0.nextExpiry }
        let now = clock.monotonicNanoseconds()
        // Somebody else may have had the pass begun since: then it is due in an interval, not now.
        let delay = max(next &- min(now, next), 10_000_000)
        timer.withLock { cancel in
            cancel?()
            cancel = next == .max ? nil : DelaySource.system.after(delay) { [weak self] in self?.timerFired() }
        }
    }

    deinit { timer.withLock { $0?() } }

    /// The clock, not the timer, decides whether a pass is due: the timer may be early or late.
    func timerFired() {
        maintainIfDue()
        setTimer()
    }

    // MARK: Walks for the size limit

    /// Goes on with a walk through the directory that a store has begun, in short steps between other work.
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

    // MARK: Turns of the program's life

    /// Waits until everything has been written, at most so many seconds. Whether it has.
    func waitUntilWritten(within seconds: Double) -> Bool {
        let latch = Latch()
        let isBusy = writes.withLock { $0.whenIdle { latch.open() } }
        return !isBusy || latch.wait(seconds: seconds)
    }

    /// Removes expired entries at the end of the program, if the configuration says so. Whether that was done in time.
    func trimForExit(within seconds: Double) -> Bool {
        guard state.withLock({ $0.config.shouldRemoveExpiredDataWhenTerminate }) else { return true }
        return diskCache.removeExpiredData(timeLimit: max(seconds, 0)).isComplete
    }

    func didEnterBackground() {
        let config = state.withLock { $0.config }
        // Letting go of many images takes a moment, too.
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

extension CacheUpkeep: PixelHolder {
    /// Evicts images, those first that are worth least.
    package func makeRoom(_ missing: () -> Int) {
        guard let memory = memoryCache as? MemoryCache else { return memoryCache.didReceiveMemoryWarning() }
        while case let cost = memory.totalCost, cost > 0, case let missing = missing(), missing > 0 {
            memory.trim(toCost: max(cost - missing, 0))
        }
        // Images that are said to cost nothing have pixels, too.
        if missing() > 0 { memory.didReceiveMemoryWarning() }
    }
}

extension DecodedMemoryBudget {
    /// Has the budget evict from a cache's memory when there is no room. Managers attach theirs; ``shared`` knows all caches of the
    /// process already. The cache's own queries then decode within this budget.
    public func attach(_ cache: ImageCache) {
        guard !isProcessWide else { return }
        cache.decodeBudget.withLock { $0 = self }
        attach(cache.upkeep)
    }
}
