/// What a cache of one rule would hold, for a sample of the keys: hashes and costs, no images.
///
/// It answers which of the sampled requests that rule would have hit.
struct ShadowCache: ~Copyable {
    private let rule: EvictionRule
    private var slab: EvictionSlab
    private var index = HashIndex()

    init(rule: EvictionRule, seed: UInt64) {
        self.rule = rule
        slab = EvictionSlab(seed: seed)
    }

    var count: Int { slab.count }
    var totalCost: Int { slab.totalCost }

    /// Notes a request for a key of the sample.
    ///
    /// - Returns: whether a cache of this rule and these limits would have had it.
    mutating func request(_ hash: UInt64, cost: Int, frequency: UInt8, epoch: UInt16, limits: EvictionLimits) -> Bool {
        if let id = index.find(hash, where: { _ in true }) {
            slab.touch(id, frequency: frequency, epoch: epoch)
            slab.setCost(cost, of: id)
            shrink(to: limits, epoch: epoch)
            return true
        }
        guard limits.cost == 0 || cost <= limits.cost else { return false }
        index.insert(hash, id: slab.insert(hash: hash, cost: cost, frequency: frequency, epoch: epoch))
        shrink(to: limits, epoch: epoch)
        return false
    }

    /// Forgets the keys that are not in the sample.
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
        index.remove(slab.entries[Int(id)].hash, id: id)
        slab.remove(id)
    }
}
