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
        onDiskQueue(callbackQueue, { $0.diskCache.usage() }) { completion($0.count, $0.size) }
    }

    /// Removes expired entries, then the oldest if there is too much; see ``DiskCache/removeExpiredData(timeLimit:)``.
    @discardableResult
    public func removeExpiredData() async -> DiskCacheCleanup {
        await onDiskQueue { $0.upkeep.removeExpiredData(timeLimit: nil) }
    }

    /// Removes expired entries, then the oldest if there is too much; then calls `completion` on `callbackQueue`.
    public func removeExpiredData(
        callbackQueue: CallbackQueue = .main,
        completion: (@Sendable (DiskCacheCleanup) -> Void)?
    ) {
        onDiskQueue(callbackQueue, { $0.upkeep.removeExpiredData(timeLimit: nil) }) { completion?($0) }
    }

    /// Returns when nothing waits to be written any more.
    public func flush() async {
        await withCheckedContinuation { continuation in
            let isBusy = writes.withLock { $0.whenIdle { continuation.resume() } }
            if !isBusy { continuation.resume() }
        }
    }

    /// For the end of the program (see ``WebImageLifecycle`` for all caches at once): waits until everything has been written, then removes expired entries if
    /// ``ImageCacheConfig/shouldRemoveExpiredDataWhenTerminate`` says so. Synchronous.
    ///
    /// - Parameter seconds: the most time that it takes (but for a system call that hangs).
    /// - Returns: whether everything was done in time.
    @discardableResult
    public func prepareForExit(within seconds: Double = 2) -> Bool {
        let start = clock.monotonicNanoseconds()
        guard upkeep.waitUntilWritten(within: seconds) else { return false }
        let elapsed = Double(clock.monotonicNanoseconds() &- start) / 1e9
        return upkeep.trimForExit(within: seconds - elapsed)
    }

    /// For a program that has gone out of sight, for example a minimised window: lets go of images until
    /// ``ImageCacheConfig/backgroundMemoryShare`` is left, and removes expired entries from disk if
    /// ``ImageCacheConfig/shouldRemoveExpiredDataWhenEnterBackground`` says so. Away from the caller's thread.
    public func didEnterBackground() { upkeep.didEnterBackground() }

    /// For when memory is short: removes all images from memory, but remembers those that are still shown if
    /// ``ImageCacheConfig/shouldUseWeakMemoryCache`` is on. A ``MemoryCache`` is told of pressure by the system on its own;
    /// call this when something else says that memory is short.
    public func didReceiveMemoryWarning() { upkeep.didReceiveMemoryWarning() }

    /// Counts of the disk level since the cache was made; all zero for a disk cache of another class.
    public var diskStatistics: DiskCacheStatistics { (diskCache as? DiskCache)?.statistics ?? DiskCacheStatistics() }

    /// Writes given up because more than ``ImageCacheConfig/maxPendingWriteBytes`` waited.
    public var droppedWriteCount: Int { writes.withLock { $0.droppedCount } }

    // MARK: On a thread of the cache

    func onDiskQueue<Value: Sendable>(_ body: @escaping @Sendable (ImageCache) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            onDiskQueue(.inline, body) { continuation.resume(returning: $0) }
        }
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
