/// The table, policy, weak level and locks of a memory cache. Memory pressure handlers hold it without retaining the cache.
///
/// A reader takes the lock of its processor's stripe. The policy learns of hits in batches: when a stripe has 64 of them and no
/// thread is writing, or at the next write. A writer takes the writers' lock and then all stripes' locks, so both limits hold for
/// every reader at all times.
final class MemoryCacheCore: @unchecked Sendable {
    // Sendable because `table` is changed only with the writers' lock and all stripes locked, and read with at least one of the
    // stripes locked; all other mutable state is inside `writers`.

    typealias Reason = MemoryCache.EvictionReason
    typealias Handler = @Sendable (MemoryCache.Eviction) -> Void

    /// The state that only one thread at a time may access.
    struct Writers: ~Copyable {
        var policy: EvictionPolicy
        var weak = WeakTable<Image>()
        var handler: Handler?
    }

    /// The cleanup of a write that must wait until the locks are released.
    private struct Leftovers {
        /// The removed images, to be reported and released when no lock is held.
        var removals: [MemoryCache.Eviction] = []
        var seen: [Image] = []
    }

    /// The maximum cost of a value, one tebibyte, so that sums never overflow.
    private static let maximumCost = 1 << 40

    private let writers: Lock<Writers>
    private let stripes: StripedReaderLock
    private let table: UnsafeMutablePointer<CacheTable<Image>>

    init(limits: EvictionLimits, usesWeakCache: Bool, stripeCount: Int?) {
        stripes = StripedReaderLock(stripeCount: stripeCount)
        writers = Lock(
            Writers(policy: EvictionPolicy(limits: Self.sane(limits)), handler: nil)
        )
        table = .allocate(capacity: 1)
        table.initialize(to: CacheTable())
        table.pointee.hasWeakLevel = usesWeakCache
    }

    deinit {
        writers.withLock { for id in $0.policy.ids { _ = table.pointee.remove(id) } }
        table.deinitialize(count: 1)
        table.deallocate()
    }

    // MARK: - Reading

    @inline(__always)
    func value(for key: MemoryCacheKey) -> Image? {
        KeyHash.withBytes(of: key.string) { value(key.keyHash, $0) }
    }

    @inline(__always)
    func value(for string: String) -> Image? {
        KeyHash.withBytes(of: string) { value(KeyHash.of($0), $0) }
    }

    @inline(never)
    private func value(_ hash: UInt64, _ key: UnsafeRawBufferPointer) -> Image? {
        let stripe = stripes.current
        stripe.lock()
        guard let (id, value) = table.pointee.find(hash, key) else {
            let usesWeakCache = table.pointee.hasWeakLevel
            stripe.unlock()
            return usesWeakCache ? revive(MemoryCacheKey(String(decoding: key, as: UTF8.self), hash: hash)) : nil
        }
        if stripe.note(id) { learn(from: stripe) }
        stripe.unlock()
        return value
    }

    /// Returns the value of a key without counting this as a use.
    func unusedValue(for string: String) -> Image? {
        KeyHash.withBytes(of: string) { key in
            let stripe = stripes.current
            stripe.lock()
            defer { stripe.unlock() }
            return table.pointee.find(KeyHash.of(key), key)?.value
        }
    }

    /// Reports the hits of a stripe, whose lock is held, to the policy.
    @inline(never)
    private func learn(from stripe: StripedReaderLock.Stripe) {
        // Never waits: the owner of the writers' lock may be waiting for this stripe.
        writers.withLockIfFree { writers in
            stripe.takeHits { writers.policy.touch($0) }
            stripe.skip(writers.policy.hitsToSkip())
        }
    }

    /// Looks a key up in the weak level, and stores a found value again.
    @inline(never)
    private func revive(_ key: MemoryCacheKey) -> Image? {
        var leftovers = Leftovers()
        let (value, handler) = writers.withLock { writers -> (Image?, Handler?) in
            guard table.pointee.hasWeakLevel, let found = writers.weak.value(for: key) else { return (nil, nil) }
            let value = withTableLocked(&writers) { writers -> Image in
                // Another thread may have stored a value since the miss.
                if let newer = KeyHash.withBytes(of: key.string, { table.pointee.find(key.keyHash, $0) }) {
                    leftovers.seen.append(found.value)
                    return newer.value
                }
                put(found.value, cost: found.cost, for: key, &writers, &leftovers)
                return found.value
            }
            return (value, writers.handler)
        }
        report(leftovers, handler)
        return value
    }

    // MARK: - Writing

    func set(_ value: Image, cost: Int, for key: MemoryCacheKey) {
        write { writers, leftovers in
            if table.pointee.hasWeakLevel {
                writers.weak.set(value, cost: max(cost, 0), for: key, seen: &leftovers.seen)
            } else {
                // An earlier value must not come back when the weak level is enabled again.
                writers.weak.remove(key)
            }
            put(value, cost: max(cost, 0), for: key, &writers, &leftovers)
        }
    }

    /// Removes a key; with `value`, only if the key has that value.
    func remove(_ key: MemoryCacheKey, onlyIf value: Image? = nil) {
        write { writers, leftovers in
            let found = KeyHash.withBytes(of: key.string) { table.pointee.find(key.keyHash, $0) }
            if let value, let found, found.value !== value { return }
            writers.weak.remove(key)
            guard let found else { return }
            take(found.id, .removed, &writers, &leftovers)
        }
    }

    /// Removes all values, with or without those of the weak level.
    func removeAll(_ reason: Reason, keepingWeak: Bool) {
        write { writers, leftovers in
            if !keepingWeak { writers.weak.removeAll() }
            for id in writers.policy.ids { take(id, reason, &writers, &leftovers) }
            writers.policy.removeAll()
        }
    }

    /// Removes the least valuable values until the total cost is at most the result of `target` for the current total cost.
    func trim(_ reason: Reason, to target: (_ totalCost: Int) -> Int) {
        write { writers, leftovers in
            let cost = max(target(writers.policy.totalCost), 0)
            while let id = writers.policy.victim(toCost: cost) { take(id, reason, &writers, &leftovers) }
        }
    }

    var limits: EvictionLimits { writers.withLock { $0.policy.limits } }

    /// Changes the limits and applies them to the cached values at once.
    func updateLimits(_ body: (inout EvictionLimits) -> Void) {
        write { writers, leftovers in
            body(&writers.policy.limits)
            writers.policy.limits = Self.sane(writers.policy.limits)
            makeRoom(&writers, &leftovers)
        }
    }

    var usesWeakCache: Bool {
        get { writers.withLock { _ in table.pointee.hasWeakLevel } }
        set { write { _, _ in table.pointee.hasWeakLevel = newValue } }
    }

    var handler: Handler? {
        get { writers.withLock { $0.handler } }
        set {
            // The old handler is released after the lock.
            var handler = newValue
            writers.withLock { swap(&$0.handler, &handler) }
        }
    }

    var totalCost: Int { writers.withLock { $0.policy.totalCost } }
    var count: Int { writers.withLock { $0.policy.count } }
    var rule: EvictionRule { writers.withLock { $0.policy.rule } }

    // MARK: - Under the locks

    private func write(_ body: (inout Writers, inout Leftovers) -> Void) {
        var leftovers = Leftovers()
        let handler = writers.withLock { writers in
            withTableLocked(&writers) { writers in body(&writers, &leftovers) }
            return writers.handler
        }
        report(leftovers, handler)
    }

    /// Locks out all readers and reports all hits so far to the policy; previously noted entry numbers are obsolete then, so `body`
    /// may reuse them.
    private func withTableLocked<Result>(_ writers: inout Writers, _ body: (inout Writers) -> Result) -> Result {
        stripes.withAllLocked {
            stripes.takeAllHits { writers.policy.touch($0) }
            return body(&writers)
        }
    }

    private func put(
        _ value: Image,
        cost: Int,
        for key: MemoryCacheKey,
        _ writers: inout Writers,
        _ leftovers: inout Leftovers
    ) {
        let fits = writers.policy.admits(cost: cost)
        let cost = min(cost, Self.maximumCost)
        KeyHash.withBytes(of: key.string) { bytes in
            if let (id, _) = table.pointee.find(key.keyHash, bytes) {
                guard fits else { return take(id, .replaced, &writers, &leftovers) }
                let old = table.pointee.replace(id, with: value)
                writers.policy.replace(id, cost: cost)
                if let old, old !== value {
                    leftovers.removals.append(MemoryCache.Eviction(key: key.string, image: old, reason: .replaced))
                }
            } else if fits {
                table.pointee.insert(writers.policy.insert(hash: key.keyHash, cost: cost), key.keyHash, bytes, value)
            }
        }
        makeRoom(&writers, &leftovers)
    }

    private func makeRoom(_ writers: inout Writers, _ leftovers: inout Leftovers) {
        while let victim = writers.policy.victim() {
            take(victim.id, victim.isForCost ? .cost : .count, &writers, &leftovers)
        }
    }

    private func take(_ id: UInt32, _ reason: Reason, _ writers: inout Writers, _ leftovers: inout Leftovers) {
        let key = writers.handler == nil ? "" : table.pointee.key(of: id)
        if let value = table.pointee.remove(id) {
            leftovers.removals.append(MemoryCache.Eviction(key: key, image: value, reason: reason))
        }
        writers.policy.remove(id)
    }

    private func report(_ leftovers: Leftovers, _ handler: Handler?) {
        guard let handler else { return }
        for removal in leftovers.removals { handler(removal) }
    }

    private static func sane(_ limits: EvictionLimits) -> EvictionLimits {
        EvictionLimits(cost: max(limits.cost, 0), count: max(limits.count, 0))
    }
}
