/// Decides which rule to evict by (set dueling): both rules are simulated on a sample of the keys, and the one with more hits is
/// used.
///
/// Each shadow holds about ``target`` entries at most, so the cost is the same for a cache of any size: under 70 KB.
struct SetDueling: ~Copyable {
    /// The number of entries that each shadow should not exceed by much.
    private static let target = 512

    private var recency = ShadowCache(rule: .recency, seed: 3)
    private var density = ShadowCache(rule: .density, seed: 5)
    /// One key in `2 ^ shift` is in the sample.
    private(set) var shift: UInt64 = 0
    /// The number of requests that only `density` hit, minus those that only `recency` hit; within ± `patience`.
    private var lead = 0
    /// The rule that won last. Starts with recency, which users expect.
    private(set) var winner = EvictionRule.recency

    var entryCount: Int { recency.count + density.count }

    func samples(_ hash: UInt64) -> Bool { (hash >> 40) & ((1 << shift) - 1) == 0 }

    /// Records a request of a sampled key.
    mutating func request(_ hash: UInt64, cost: Int, frequency: UInt8, epoch: UInt16, limits: EvictionLimits) {
        // A share of the keys gets the same share of the limits.
        var part = EvictionLimits(cost: limits.cost >> Int(shift), count: limits.count >> Int(shift))
        if limits.cost > 0 { part.cost = max(part.cost, 1) }
        if limits.count > 0 { part.count = max(part.count, 1) }
        let recencyHit = recency.request(hash, cost: cost, frequency: frequency, epoch: epoch, limits: part)
        let densityHit = density.request(hash, cost: cost, frequency: frequency, epoch: epoch, limits: part)
        if recencyHit != densityHit { score(densityHit ? 1 : -1) }
        if max(recency.count, density.count) > Self.target * 2 { thinOut() }
    }

    private mutating func score(_ change: Int) {
        let patience = max(16, recency.count / 4)
        lead = min(max(lead + change, -patience), patience)
        if lead >= patience / 2 { winner = .density }
        if lead <= -patience / 2 { winner = .recency }
    }

    /// Halves the sample.
    private mutating func thinOut() {
        shift += 1
        let mask = (UInt64(1) << shift) - 1
        recency.keep { ($0 >> 40) & mask == 0 }
        density.keep { ($0 >> 40) & mask == 0 }
    }
}

/// A simulation of a cache with one rule, for a sample of the keys: hashes and costs, no images.
struct ShadowCache: ~Copyable {
    private let rule: EvictionRule
    private var slab: EvictionSlab
    private var index = HashIndex<UInt32>()

    init(rule: EvictionRule, seed: UInt64) {
        self.rule = rule
        slab = EvictionSlab(seed: seed)
    }

    var count: Int { slab.count }
    var totalCost: Int { slab.totalCost }

    /// Records a request for a key of the sample. Returns whether a cache with this rule and these limits would have had it.
    mutating func request(_ hash: UInt64, cost: Int, frequency: UInt8, epoch: UInt16, limits: EvictionLimits) -> Bool {
        if let id = index.find(hash, where: { slab.entries[Int($0)].hash == hash }) {
            slab.touch(id, frequency: frequency, epoch: epoch)
            slab.setCost(cost, of: id)
            shrink(to: limits, epoch: epoch)
            return true
        }
        guard limits.cost == 0 || cost <= limits.cost else { return false }
        index.insert(hash, slab.insert(hash: hash, cost: cost, frequency: frequency, epoch: epoch))
        shrink(to: limits, epoch: epoch)
        return false
    }

    /// Removes the keys that are not in the sample.
    mutating func keep(where isInSample: (UInt64) -> Bool) {
        for id in slab.ids where !isInSample(slab.entries[Int(id)].hash) { remove(id) }
    }

    private mutating func shrink(to limits: EvictionLimits, epoch: UInt16) {
        while (limits.cost > 0 && slab.totalCost > limits.cost) || (limits.count > 0 && slab.count > limits.count),
            let victim = slab.victim(by: rule, limits: limits, epoch: epoch)
        {
            remove(victim)
        }
    }

    private mutating func remove(_ id: UInt32) {
        index.remove(slab.entries[Int(id)].hash) { $0 == id }
        slab.remove(id)
    }
}
