extension ImageCache {
    /// Bytes of all entries' files. Synchronous; does not count what waits to be written.
    public var totalDiskSize: Int { diskCache.usage().size }

    /// Number of entries on disk. Synchronous; does not count what waits to be written.
    public var totalDiskCount: Int { diskCache.usage().count }

    /// Number of entries on disk and bytes of their files.
    public func calculateSize() async -> (count: Int, size: Int) {
        await onDiskQueue { $0.diskCache.usage() }
    }

    /// Number of entries on disk and bytes of their files, delivered on `callbackQueue`.
    public func calculateSize(
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (_ count: Int, _ size: Int) -> Void
    ) {
        diskQueue.submit {
            let (count, size) = self.diskCache.usage()
            callbackQueue.async { completion(count, size) }
        }
    }

    /// Removes expired entries, then the oldest if there is too much; see ``DiskCache/removeExpiredData(timeLimit:)``.
    @discardableResult
    public func removeExpiredData() async -> DiskCacheCleanup {
        await onDiskQueue { $0.diskCache.removeExpiredData(timeLimit: nil) }
    }

    /// Removes expired entries, then the oldest if there is too much; then calls `completion` on `callbackQueue`.
    public func removeExpiredData(
        callbackQueue: CallbackQueue = .main,
        completion: (@Sendable (DiskCacheCleanup) -> Void)?
    ) {
        diskQueue.submit {
            let cleanup = self.diskCache.removeExpiredData(timeLimit: nil)
            if let completion { callbackQueue.async { completion(cleanup) } }
        }
    }

    /// Returns when nothing waits to be written any more.
    public func flush() async {
        await withCheckedContinuation { continuation in
            let isBusy = backlog.withLock { $0.whenIdle { continuation.resume() } }
            if !isBusy { continuation.resume() }
        }
    }

    /// For the end of the program: waits until everything has been written, then removes expired entries if
    /// ``ImageCacheConfig/shouldRemoveExpiredDataWhenTerminate`` says so. Synchronous.
    ///
    /// - Parameter seconds: the most time that it takes (but for a system call that hangs).
    /// - Returns: whether everything was done in time.
    @discardableResult
    public func prepareForExit(within seconds: Double = 2) -> Bool {
        let start = clock.monotonicNanoseconds()
        let latch = Latch()
        let isBusy = backlog.withLock { $0.whenIdle { latch.open() } }
        if isBusy, !latch.wait(seconds: seconds) { return false }
        guard config.shouldRemoveExpiredDataWhenTerminate else { return true }
        let elapsed = Double(clock.monotonicNanoseconds() &- start) / 1e9
        return diskCache.removeExpiredData(timeLimit: max(seconds - elapsed, 0)).isComplete
    }

    /// For a program that has gone out of sight, for example a minimised window: removes expired entries, away from the
    /// caller's thread, if ``ImageCacheConfig/shouldRemoveExpiredDataWhenEnterBackground`` says so.
    public func didEnterBackground() {
        guard config.shouldRemoveExpiredDataWhenEnterBackground else { return }
        diskQueue.submit(priority: .low) { self.diskCache.removeExpiredData(timeLimit: nil) }
    }

    /// Counts of the disk level since the cache was made; all zero for a disk cache of another class.
    public var diskStatistics: DiskCacheStatistics { (diskCache as? DiskCache)?.statistics ?? DiskCacheStatistics() }

    /// Writes given up because more than ``ImageCacheConfig/maxPendingWriteBytes`` waited.
    public var droppedWriteCount: Int { backlog.withLock { $0.droppedCount } }

    private func onDiskQueue<Value: Sendable>(_ body: @escaping @Sendable (ImageCache) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            diskQueue.submit { continuation.resume(returning: body(self)) }
        }
    }
}
