extension ImageCache {
    /// The total size of all entries' files in bytes. Synchronous: walks through the directory. Does not count pending writes.
    public var totalDiskSize: Int { diskCache.usage().size }

    /// The number of entries on disk. Synchronous: walks through the directory. Does not count pending writes.
    public var totalDiskCount: Int { diskCache.usage().count }

    /// Returns the number of entries on disk and the total size of their files in bytes; does not count pending writes.
    public func calculateSize() async -> (count: Int, size: Int) {
        await onDiskQueue { $0.diskCache.usage() }
    }

    /// Delivers the number of entries on disk and the total size of their files in bytes on `callbackQueue`.
    public func calculateSize(
        callbackQueue: CallbackQueue = .main,
        completion: @escaping @Sendable (_ count: Int, _ size: Int) -> Void
    ) {
        onDiskQueue(callbackQueue, { $0.diskCache.usage() }) { completion($0.count, $0.size) }
    }

    /// Removes expired entries, then the oldest if the size limit is exceeded; see ``DiskCache/removeExpiredData(timeLimit:)``.
    @discardableResult
    public func removeExpiredData() async -> DiskCacheCleanup {
        await onDiskQueue { $0.upkeep.removeExpiredData(timeLimit: nil) }
    }

    /// Removes expired entries, then the oldest if the size limit is exceeded; then calls `completion` on `callbackQueue`.
    public func removeExpiredData(
        callbackQueue: CallbackQueue = .main,
        completion: (@Sendable (DiskCacheCleanup) -> Void)?
    ) {
        onDiskQueue(callbackQueue, { $0.upkeep.removeExpiredData(timeLimit: nil) }) { completion?($0) }
    }

    /// Waits until there are no pending writes.
    public func flush() async {
        await awaitCompletion { completion in
            let isBusy = writes.withLock { $0.whenIdle(completion) }
            if isBusy { diskQueue.hurry() } else { completion() }
        }
    }

    /// Prepares for the end of the program (see ``WebImageLifecycle`` for all caches at once): waits until all pending writes are
    /// done, then removes expired entries if ``ImageCacheConfig/shouldRemoveExpiredDataWhenTerminate`` is true. Synchronous.
    ///
    /// - Parameter seconds: the time limit in seconds (except for a system call that hangs); 2 by default.
    /// - Returns: true if everything was done in time.
    @discardableResult
    public func prepareForExit(within seconds: Double = 2) -> Bool {
        let start = clock.monotonicNanoseconds()
        guard upkeep.waitUntilWritten(within: seconds) else { return false }
        let elapsed = Double(clock.monotonicNanoseconds() &- start) / 1e9
        return upkeep.trimForExit(within: seconds - elapsed)
    }

    /// Notifies the cache that the program is in the background, for example a minimized window: releases images until
    /// ``ImageCacheConfig/backgroundMemoryShare`` is left, and removes expired entries from disk if
    /// ``ImageCacheConfig/shouldRemoveExpiredDataWhenEnterBackground`` is true. Runs on a thread of the cache.
    public func didEnterBackground() { upkeep.didEnterBackground() }

    /// Notifies the cache of a memory shortage: removes all images from memory, but remembers images that are still in use if
    /// ``ImageCacheConfig/shouldUseWeakMemoryCache`` is true. A ``MemoryCache`` monitors the system's memory pressure itself; call
    /// this if another source reports a shortage. Synchronous.
    public func didReceiveMemoryWarning() { upkeep.didReceiveMemoryWarning() }

    /// The counts of the disk level since the cache was created; all zero for a disk cache of another class.
    public var diskStatistics: DiskCacheStatistics { (diskCache as? DiskCache)?.statistics ?? DiskCacheStatistics() }

    /// The number of writes that were dropped because pending writes exceeded ``ImageCacheConfig/maxPendingWriteBytes``.
    package var droppedWriteCount: Int { writes.withLock { $0.droppedCount } }

    // MARK: On a thread of the cache

    func onDiskQueue<Value: Sendable>(_ body: @escaping @Sendable (ImageCache) -> Value) async -> Value {
        await awaitCompletion { onDiskQueue(.inline, body, $0) }
    }

    func onDiskQueue<Value: Sendable>(
        _ callbackQueue: CallbackQueue,
        _ body: @escaping @Sendable (ImageCache) -> Value,
        _ completion: @escaping @Sendable (Value) -> Void
    ) {
        diskQueue.submit {
            let value = body(self)
            callbackQueue.async { completion(value) }
        }
    }
}
