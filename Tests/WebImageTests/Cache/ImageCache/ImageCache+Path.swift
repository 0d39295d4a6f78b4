import WebImage

@testable import WebImageCache

extension ImageCache {
    /// A cache in a directory, which encodes with the shared coders.
    convenience init(
        path: String,
        config: ImageCacheConfig,
        clock: ClockSource,
        calls: FileCalls = .system,
        diskQueue: WorkQueue? = nil,
        codingQueue: WorkQueue = CodingQueue.shared
    ) {
        self.init(
            path: path,
            config: config,
            coder: ImageCodersManager.shared,
            clock: clock,
            calls: calls,
            diskQueue: diskQueue,
            codingQueue: codingQueue
        )
    }
}
