/// Decoded images in memory, by key.
///
/// Both limits hold whenever a call has returned. Which image goes when there is no room is decided by what has paid off of
/// late: the one that was not used the longest, or the one with the fewest uses for the memory it takes.
///
/// Looking an image up takes about 100 ns, allocates nothing and can be done on any number of threads at once; call it where
/// the image is needed, the main thread included. Storing takes a few microseconds. Images are let go of and the
/// ``evictionHandler`` is called on the thread that made them go, when no lock is held.
public final class MemoryCache: Sendable {
    private let core: MemoryCacheCore
    // Held for its lifetime: as long as it exists the cache is told of memory pressure.
    private let pressure: MemoryPressureMonitor.Registration?

    /// A cache that is empty.
    ///
    /// - Parameters:
    ///   - maxMemoryCost: the bytes that all images together may cost; 0 means no limit.
    ///   - maxMemoryCount: the number of images there may be; 0 means no limit.
    ///   - usesWeakCache: whether evicted images can be found while someone else holds them.
    ///   - respondsToMemoryPressure: whether the cache shrinks when the system runs short of memory.
    public convenience init(
        maxMemoryCost: Int = MemoryCache.defaultCostLimit,
        maxMemoryCount: Int = 0,
        usesWeakCache: Bool = false,
        respondsToMemoryPressure: Bool = true
    ) {
        let limits = EvictionLimits(cost: maxMemoryCost, count: maxMemoryCount)
        self.init(limits, usesWeakCache: usesWeakCache, pressureMonitor: respondsToMemoryPressure ? .shared : nil)
    }

    init(_ limits: EvictionLimits, usesWeakCache: Bool, pressureMonitor: MemoryPressureMonitor?) {
        let core = MemoryCacheCore(limits: limits, usesWeakCache: usesWeakCache)
        self.core = core
        pressure = pressureMonitor?.register { level in
            switch level {
            case .some: core.trim(.pressure) { $0 / 2 }
            case .full: core.removeAll(.pressure, keepingWeak: true)
            }
        }
    }

    // MARK: - Images

    /// The image of a key, nil when it is not here. Counts as a use.
    ///
    /// With ``usesWeakCache`` on, an image that was evicted while someone else still holds it is found too, and put back.
    public func image(forKey key: String) -> Image? { core.value(for: key) }

    /// The image of a key whose hash is known already; see ``image(forKey:)-(String)``.
    public func image(forKey key: MemoryCacheKey) -> Image? { core.value(for: key) }

    /// Stores an image; nil removes.
    ///
    /// - Parameters:
    ///   - image: the image; one that was stored under this key before is gone afterwards in any case.
    ///   - key: any string.
    ///   - cost: bytes to count for it; nil means ``Image/memoryCost``, less than 0 counts as 0. An image that costs more than
    ///     ``maxMemoryCost`` is not stored.
    public func setImage(_ image: Image?, forKey key: String, cost: Int? = nil) {
        setImage(image, forKey: MemoryCacheKey(key), cost: cost)
    }

    /// Stores an image under a key whose hash is known already; see ``setImage(_:forKey:cost:)-(_,String,_)``.
    public func setImage(_ image: Image?, forKey key: MemoryCacheKey, cost: Int? = nil) {
        guard let image else { return core.remove(key) }
        core.set(image, cost: cost ?? image.memoryCost, for: key)
    }

    /// Removes an image, from the weak level too.
    public func removeImage(forKey key: String) { core.remove(MemoryCacheKey(key)) }

    /// Removes an image, from the weak level too, unless another one is there by now.
    public func removeImage(_ image: Image, forKey key: String) { core.remove(MemoryCacheKey(key), onlyIf: image) }

    /// Removes all images, from the weak level too.
    public func removeAll() { core.removeAll(.removed, keepingWeak: false) }

    /// Removes the images that are worth least until the rest costs at most `cost` bytes.
    public func trim(toCost cost: Int) { core.trim(.cost) { _ in cost } }

    /// Removes all images but remembers those that are still shown, if ``usesWeakCache`` was on when they were stored.
    ///
    /// The cache is told of pressure by the system on its own; call this when something else says that memory is short.
    public func didReceiveMemoryWarning() { core.removeAll(.pressure, keepingWeak: true) }

    /// Removes the images that are worth least until the rest costs at most a share of the limit, or of what there is if there is none.
    ///
    /// - Parameter share: how much to leave, 0...1.
    public func didEnterBackground(leaving share: Double) {
        let whole = maxMemoryCost > 0 ? maxMemoryCost : totalCost
        guard share < 1 else { return }
        trim(toCost: Int(Double(whole) * max(share, 0)))
    }

    // MARK: - State

    /// The bytes that all images together may cost; 0 means no limit. A change takes effect at once.
    public var maxMemoryCost: Int {
        get { core.limits.cost }
        set { core.updateLimits { $0.cost = newValue } }
    }

    /// The number of images there may be; 0 means no limit. A change takes effect at once.
    public var maxMemoryCount: Int {
        get { core.limits.count }
        set { core.updateLimits { $0.count = newValue } }
    }

    /// Whether images that are evicted can be found again while someone else holds them. Takes effect at once; images
    /// stored while it was off are not found. Images stored while it is on take four times as long to retain and release.
    public var usesWeakCache: Bool {
        get { core.usesWeakCache }
        set { core.usesWeakCache = newValue }
    }

    /// What all images together cost, in bytes.
    public var totalCost: Int { core.totalCost }

    /// The number of images.
    public var count: Int { core.count }

    /// Called once for every image that goes, on the thread that made it go, when no lock is held: the cache may be used.
    public var evictionHandler: (@Sendable (Eviction) -> Void)? {
        get { core.handler }
        set { core.handler = newValue }
    }

    // MARK: - Evictions

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
