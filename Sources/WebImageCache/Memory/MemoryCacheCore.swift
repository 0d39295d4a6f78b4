/// Table, policy, weak level and locks of a memory cache. Memory pressure holds it without holding the cache.
///
/// A reader takes the lock of its processor's stripe. The policy learns of hits in batches: when a stripe has 64 of them and
/// nobody is writing, or at the next write. A writer takes the writers' lock and then every stripe's, so both limits hold for
/// every reader at all times.
final class MemoryCacheCore: @unchecked Sendable {
    // Sendable because `table` is changed only with the writers' lock and all stripes locked, and read with at least one
    // of the stripes; everything else that changes is inside `writers`.

    typealias Reason = MemoryCache.EvictionReason
    typealias Handler = @Sendable (MemoryCache.Eviction) -> Void

    /// What only one thread at a time may touch.
    struct Writers: ~Copyable {
        var policy: EvictionPolicy
        var weak = WeakTable<Image>()
        var handler: Handler?
    }

    /// What a write has to leave until the locks are open.
    private struct Leftovers {
        /// What went, to be reported and let go of when no lock is held.
        var removals: [MemoryCache.Eviction] = []
        var seen: [Image] = []
    }

    /// A value cannot cost more than a tebibyte, so that sums never overflow.
    private static let maximumCost = 1 << 40

    private let writers: Lock<Writers>
    private let stripes = ReaderStripes()
    private let table: UnsafeMutablePointer<CacheTable<Image>>

    init(limits: EvictionLimits, usesWeakCache: Bool) {
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
        KeyDigest.withBytes(of: key.string) { value(key.digest, $0) }
    }

    @inline(__always)
    func value(for string: String) -> Image? {
        KeyDigest.withBytes(of: string) { value(KeyDigest($0), $0) }
    }

    @inline(never)
    private func value(_ digest: KeyDigest, _ key: UnsafeRawBufferPointer) -> Image? {
        let stripe = stripes.current
        stripe.lock()
        guard let id = table.pointee.find(digest, key) else {
            let usesWeakCache = table.pointee.hasWeakLevel
            stripe.unlock()
            return usesWeakCache ? revive(MemoryCacheKey(String(decoding: key, as: UTF8.self), digest)) : nil
        }
        let value = table.pointee.value(of: id)
        if stripe.note(id) { learn(from: stripe) }
        stripe.unlock()
        return value
    }

    /// Lets the policy know of a stripe's hits, whose lock is held.
    @inline(never)
    private func learn(from stripe: ReaderStripes.Stripe) {
        // Never waits: whoever has the writers' lock may be waiting for this stripe.
        writers.withLockIfFree { writers in
            stripe.takeHits { writers.policy.touch($0) }
            stripe.skip(writers.policy.hitsToSkip())
        }
    }

    /// Looks in the weak level, and puts what it finds back.
    @inline(never)
    private func revive(_ key: MemoryCacheKey) -> Image? {
        var leftovers = Leftovers()
        let (value, handler) = writers.withLock { writers -> (Image?, Handler?) in
            guard table.pointee.hasWeakLevel, let found = writers.weak.value(for: key) else { return (nil, nil) }
            let value = withTableLocked(&writers) { writers -> Image in
                // Someone may have stored another value since the miss.
                if let newer = KeyDigest.withBytes(of: key.string, { table.pointee.find(key.digest, $0) }) {
                    leftovers.seen.append(found.value)
                    return table.pointee.value(of: newer)
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
                // A value of earlier must not come back when the weak level is turned on again.
                writers.weak.remove(key)
            }
            put(value, cost: max(cost, 0), for: key, &writers, &leftovers)
        }
    }

    /// Removes a key; with `value`, only if that is what it stands for.
    func remove(_ key: MemoryCacheKey, onlyIf value: Image? = nil) {
        write { writers, leftovers in
            let id = KeyDigest.withBytes(of: key.string) { table.pointee.find(key.digest, $0) }
            if let value, let id, table.pointee.value(of: id) !== value { return }
            writers.weak.remove(key)
            guard let id else { return }
            take(id, .removed, &writers, &leftovers)
        }
    }

    /// Removes every value; with the weak level or without.
    func removeAll(_ reason: Reason, keepingWeak: Bool) {
        write { writers, leftovers in
            if !keepingWeak { writers.weak.removeAll() }
            for id in writers.policy.ids { take(id, reason, &writers, &leftovers) }
            writers.policy.removeAll()
        }
    }

    /// Removes values, those that are worth least first, until they cost no more than what `target` makes of what they cost now.
    func trim(_ reason: Reason, to target: (_ totalCost: Int) -> Int) {
        write { writers, leftovers in
            let cost = max(target(writers.policy.totalCost), 0)
            while let id = writers.policy.victim(toCost: cost) { take(id, reason, &writers, &leftovers) }
        }
    }

    var limits: EvictionLimits { writers.withLock { $0.policy.limits } }

    /// Changes one of the limits, at once for all that is in the cache.
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
            // The old one is released after the lock is open.
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

    /// Locks all readers out and lets the policy know of every hit until now; entry numbers noted earlier are used up then,
    /// so `body` may give them to other entries.
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
        KeyDigest.withBytes(of: key.string) { bytes in
            if let id = table.pointee.find(key.digest, bytes) {
                guard fits else { return take(id, .replaced, &writers, &leftovers) }
                let old = table.pointee.replace(id, with: value)
                writers.policy.replace(id, cost: cost)
                if old !== value {
                    leftovers.removals.append(MemoryCache.Eviction(key: key.string, image: old, reason: .replaced))
                }
            } else if fits {
                table.pointee.insert(writers.policy.insert(hash: key.digest.high, cost: cost), key.digest, bytes, value)
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
        leftovers.removals.append(MemoryCache.Eviction(key: key, image: table.pointee.remove(id), reason: reason))
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
