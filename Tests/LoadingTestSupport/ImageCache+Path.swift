package import CacheTestSupport
package import WebImageLoading

extension ImageCache {
    /// A cache in a directory, which encodes with the shared coders.
    package convenience init(
        path: String,
        config: ImageCacheConfig,
        clock: ClockSource,
        delays: DelaySource = .system,
        calls: FileCalls = .system,
        diskQueue: WorkQueue? = nil,
        codingQueue: WorkQueue = CodingQueue.shared
    ) {
        self.init(
            path: path,
            config: config,
            coder: ImageCodersManager.shared,
            clock: clock,
            delays: delays,
            calls: calls,
            diskQueue: diskQueue,
            codingQueue: codingQueue
        )
    }
}

extension FakeDisk {
    /// A cache on this level, which encodes with the shared coders.
    package func cache(clock: ClockSource = .system, _ change: (inout ImageCacheConfig) -> Void = { _ in })
        -> ImageCache
    {
        cache(coder: ImageCodersManager.shared, clock: clock, change)
    }
}
