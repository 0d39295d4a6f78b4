extension MemoryCache {
    /// How a cache starts out.
    public struct Configuration: Sendable {
        /// The bytes that all images together may cost; 0 means no limit. ``MemoryCache/defaultCostLimit`` by default.
        public var maxMemoryCost: Int
        /// The number of images there may be; 0, the default, means no limit.
        public var maxMemoryCount: Int
        /// Whether evicted images can be found while someone else holds them. Off by default.
        public var usesWeakCache: Bool
        /// Whether the cache shrinks when the system runs short of memory. On by default.
        public var respondsToMemoryPressure: Bool {
            get { pressureMonitor != nil }
            set { pressureMonitor = newValue ? .shared : nil }
        }
        var pressureMonitor: MemoryPressureMonitor?

        /// The defaults, but for what is given.
        public init(
            maxMemoryCost: Int = MemoryCache.defaultCostLimit,
            maxMemoryCount: Int = 0,
            usesWeakCache: Bool = false,
            respondsToMemoryPressure: Bool = true
        ) {
            self.maxMemoryCost = maxMemoryCost
            self.maxMemoryCount = maxMemoryCount
            self.usesWeakCache = usesWeakCache
            pressureMonitor = respondsToMemoryPressure ? .shared : nil
        }
    }

    /// Why an image left the cache.
    public enum EvictionReason: Sendable, Hashable {
        /// The images together would have cost too much.
        case cost
        /// There would have been too many of them.
        case count
        /// It was removed on request.
        case removed
        /// Another image was stored under its key.
        case replaced
        /// Memory was short.
        case pressure
    }

    /// An image that has left the cache.
    public struct Eviction: Sendable {
        /// The key that it had.
        public let key: String
        /// The image.
        public let image: Image
        /// Why it had to go.
        public let reason: EvictionReason
    }

    /// The cost limit of a cache when nothing else is said: a quarter of the memory that this process may use (the machine's
    /// or its control group's, whichever is less), at most 1 GiB.
    public static let defaultCostLimit = costLimit(for: SystemMemory().usableBytes)

    static func costLimit(for usableBytes: Int?) -> Int {
        // Where nothing is known of the machine, what a small one could spare.
        guard let usableBytes else { return 128 << 20 }
        return min(max(usableBytes / 4, 1 << 20), 1 << 30)
    }
}
