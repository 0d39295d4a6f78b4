/// A cache of decoded images in memory, by key.
///
/// Both limits hold whenever a call has returned. The eviction rule adapts to recent requests: either the least recently used image
/// is evicted, or the one with the fewest uses for the memory it takes.
///
/// A lookup takes about 100 ns, allocates nothing and can run on any number of threads at once; call it where the image is needed,
/// including on the main thread. A store takes a few microseconds. Images are released, and the ``evictionHandler`` is called, on
/// the thread that evicted them, when no lock is held.
public final class MemoryCache: Sendable {
    private let core: MemoryCacheCore
    private let label: Lock<String>
    private let pressureMonitor: MemoryPressureMonitor?
    private let leastObservedCost: Int
    // While it exists, the cache is notified of memory pressure.
    private let pressure = Lock<MemoryPressureMonitor.Registration?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - maxMemoryCost: the maximum total cost of all images in bytes; 0 means no limit.
    ///   - maxMemoryCount: the maximum number of images; 0 means no limit.
    ///   - usesWeakCache: true if evicted images can be found while they are still in use.
    ///   - respondsToMemoryPressure: true if the cache shrinks when the system runs short of memory. Memory pressure is observed from
    ///     the first time that the images cost 16 MiB or more.
    ///   - name: the initial ``name``.
    public convenience init(
        maxMemoryCost: Int = MemoryCache.defaultCostLimit,
        maxMemoryCount: Int = 0,
        usesWeakCache: Bool = false,
        respondsToMemoryPressure: Bool = true,
        name: String = ""
    ) {
        let limits = EvictionLimits(cost: maxMemoryCost, count: maxMemoryCount)
        self.init(
            limits,
            usesWeakCache: usesWeakCache,
            pressureMonitor: respondsToMemoryPressure ? .shared : nil,
            name: name
        )
    }

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - leastObservedCost: The total cost from which on the cache observes memory pressure. Below it, observing is not worth a waiting
    ///     thread, nor the 10 ms that the kernel takes to close the monitor's file when the process exits.
    ///   - stripeCount: The number of lists of hits; one per processor if nil. With one, the policy learns of hits in their order.
    init(
        _ limits: EvictionLimits,
        usesWeakCache: Bool,
        pressureMonitor: MemoryPressureMonitor?,
        leastObservedCost: Int = 16 << 20,
        stripeCount: Int? = nil,
        name: String = ""
    ) {
        label = Lock(name)
        core = MemoryCacheCore(limits: limits, usesWeakCache: usesWeakCache, stripeCount: stripeCount)
        self.pressureMonitor = pressureMonitor
        self.leastObservedCost = leastObservedCost
    }

    private func observePressure() {
        guard let pressureMonitor else { return }
        pressure.withLock { pressure in
            guard pressure == nil, core.totalCost >= leastObservedCost else { return }
            pressure = pressureMonitor.register { [core] level in
                switch level {
                case .some: core.trim(.pressure) { $0 / 2 }
                case .full: core.removeAll(.pressure, keepingWeak: true)
                }
            }
        }
    }

    // MARK: - Images

    /// Returns the image of a key; nil if it is not cached. Counts as a use.
    ///
    /// If ``usesWeakCache`` is true, an image that was evicted while it is still in use is found, too, and stored again.
    public func image(forKey key: String) -> Image? { core.value(for: key) }

    /// Returns the image of a key with a precomputed hash; see ``image(forKey:)-(String)``.
    public func image(forKey key: MemoryCacheKey) -> Image? { core.value(for: key) }

    /// Returns the image of a key, without counting this as a use, and without the weak level.
    func unusedImage(forKey key: String) -> Image? { core.unusedValue(for: key) }

    /// Stores an image; nil removes it.
    ///
    /// - Parameters:
    ///   - image: the image; an image that was stored under this key before is removed in any case.
    ///   - key: any string.
    ///   - cost: the cost in bytes; nil means ``Image/memoryCost``, a negative value counts as 0. An image that costs more than
    ///     ``maxMemoryCost`` is not stored.
    public func setImage(_ image: Image?, forKey key: String, cost: Int? = nil) {
        setImage(image, forKey: MemoryCacheKey(key), cost: cost)
    }

    /// Stores an image under a key with a precomputed hash; see ``setImage(_:forKey:cost:)-(_,String,_)``.
    public func setImage(_ image: Image?, forKey key: MemoryCacheKey, cost: Int? = nil) {
        guard let image else { return core.remove(key) }
        core.set(image, cost: cost ?? image.memoryCost, for: key)
        observePressure()
    }

    /// Removes an image, also from the weak level.
    public func removeImage(forKey key: String) { core.remove(MemoryCacheKey(key)) }

    /// Removes an image, also from the weak level, unless another one has replaced it.
    public func removeImage(_ image: Image, forKey key: String) { core.remove(MemoryCacheKey(key), onlyIf: image) }

    /// Removes all images, also from the weak level.
    public func removeAll() { core.removeAll(.removed, keepingWeak: false) }

    /// Removes the least valuable images until the rest costs at most `cost` bytes.
    package func trim(toCost cost: Int) { core.trim(.cost) { _ in cost } }

    /// Removes all images but remembers those that are still in use, if ``usesWeakCache`` was true when they were stored.
    ///
    /// The cache monitors the system's memory pressure itself; call this if another source reports a memory shortage.
    public func didReceiveMemoryWarning() { core.removeAll(.pressure, keepingWeak: true) }

    /// Removes the least valuable images until the rest costs at most a share of the limit, or of the current cost if there is no
    /// limit.
    ///
    /// - Parameter share: the share to leave, 0...1.
    public func didEnterBackground(leaving share: Double) {
        let whole = maxMemoryCost > 0 ? maxMemoryCost : totalCost
        guard share < 1 else { return }
        trim(toCost: Int(Double(whole) * max(share, 0)))
    }

    // MARK: - State

    /// A name for the program's logs and debugging; empty by default. The memory cache of an ``ImageCache`` has the name of its
    /// directory. Nothing depends on it.
    public var name: String {
        get { label.withLock { $0 } }
        set { label.withLock { $0 = newValue } }
    }

    /// The maximum total cost of all images in bytes; 0 means no limit. A change takes effect at once.
    public var maxMemoryCost: Int {
        get { core.limits.cost }
        set { core.updateLimits { $0.cost = newValue } }
    }

    /// The maximum number of images; 0 means no limit. A change takes effect at once.
    public var maxMemoryCount: Int {
        get { core.limits.count }
        set { core.updateLimits { $0.count = newValue } }
    }

    /// A Boolean value that indicates whether evicted images can be found while they are still in use. A change takes effect at
    /// once; images that were stored while it was false are not found. Images that are stored while it is true take four times as
    /// long to retain and release.
    public var usesWeakCache: Bool {
        get { core.usesWeakCache }
        set { core.usesWeakCache = newValue }
    }

    /// The total cost of all images in bytes.
    public var totalCost: Int { core.totalCost }

    /// The number of images.
    public var count: Int { core.count }

    /// Called once for every image that leaves the cache, on the thread that removed it, when no lock is held: it may use the
    /// cache.
    public var evictionHandler: (@Sendable (Eviction) -> Void)? {
        get { core.handler }
        set { core.handler = newValue }
    }

    // MARK: - Evictions

    /// The reason why an image left the cache.
    public enum EvictionReason: Sendable, Hashable {
        /// The total cost would have exceeded the limit.
        case cost
        /// The number of images would have exceeded the limit.
        case count
        /// The image was removed on request.
        case removed
        /// Another image was stored under the same key.
        case replaced
        /// The system ran short of memory.
        case pressure
    }

    /// An image that has left the cache.
    public struct Eviction: Sendable {
        /// The key of the image.
        public let key: String
        /// The image.
        public let image: Image
        /// The reason of the eviction.
        public let reason: EvictionReason
    }

    /// The default cost limit of a cache in bytes: a quarter of the memory that this process may use (the machine's or its control
    /// group's, whichever is less), at least 1 MiB and at most 1 GiB; 128 MiB if the memory is unknown.
    public static let defaultCostLimit = costLimit(for: SystemMemory().usableBytes)

    static func costLimit(for usableBytes: Int?) -> Int {
        // If the machine's memory is unknown, the limit suits a small machine.
        guard let usableBytes else { return 128 << 20 }
        return min(max(usableBytes / 4, 1 << 20), 1 << 30)
    }
}
