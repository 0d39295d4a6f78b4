/// Decides which entries of the memory cache are evicted.
///
/// Scrolling back and forth needs one ``EvictionRule``, popularity and one-pass scans the other. A duel of both on a sample of the
/// keys (``SetDueling``) selects the rule in force. Entries store the data for both.
///
/// A pure state machine over entry numbers. A request costs some tens of nanoseconds and allocates nothing; choosing a victim
/// examines 32 entries. An entry takes 48 bytes here and 16 to 32 in the sketch; the duel takes at most 150 KB.
struct EvictionPolicy: ~Copyable {
    var limits: EvictionLimits
    private var slab = EvictionSlab(seed: 1)
    private var sketch = FrequencySketch(capacity: 64)
    private var duel = SetDueling()
    /// Before the first eviction, a duel has no effect and is skipped.
    private var hasEvicted = false
    /// The number of requests since the last insertion.
    private var calm = 0

    init(limits: EvictionLimits) { self.limits = limits }

    var count: Int { slab.count }
    var totalCost: Int { slab.totalCost }
    /// The rule in force.
    var rule: EvictionRule { duel.winner }
    /// The highest entry number so far; numbers start at 1 and are reused.
    var highestID: UInt32 { slab.highestID }
    var ids: ContiguousArray<UInt32> { slab.ids }

    /// Returns whether an entry of this cost could ever fit.
    func admits(cost: Int) -> Bool { limits.cost <= 0 || cost <= limits.cost }

    /// Adds an entry. The caller must then remove victims until there are none.
    mutating func insert(hash: UInt64, cost: Int) -> UInt32 {
        let frequency = note(hash, cost: cost)
        calm = 0
        return slab.insert(hash: hash, cost: cost, frequency: frequency, epoch: sketch.epoch)
    }

    /// Records requests of entries, the oldest first.
    mutating func touch(_ ids: UnsafeBufferPointer<UInt32>) {
        // The processor waits once for what all of them need from memory, not for each after the other.
        slab.prefetch(ids)
        for id in ids { sketch.prefetch(slab.entries[Int(id)].hash) }
        for id in ids { touch(id) }
    }

    /// Records a request of an entry.
    mutating func touch(_ id: UInt32) {
        let (hash, cost) = (slab.entries[Int(id)].hash, slab.entries[Int(id)].cost)
        let frequency = note(hash, cost: cost)
        calm += 1
        slab.touch(id, frequency: frequency, epoch: sketch.epoch)
    }

    /// Returns the number of hits to skip before the next batch. While nothing is inserted, nothing has to be evicted, and once
    /// every entry was requested a few times, there is little left to learn: then one hit in eight is enough.
    func hitsToSkip() -> Int {
        guard calm > 256 + 2 * slab.count else { return 0 }
        // The number varies, so that all requests of a periodic pattern are recorded at some time.
        return 256 + Int((UInt64(truncatingIfNeeded: calm) &* 0x9E37_79B9_7F4A_7C15) >> 55)
    }

    /// Records a new value of an entry, which counts as a request.
    mutating func replace(_ id: UInt32, cost: Int) {
        slab.setCost(cost, of: id)
        touch(id)
    }

    mutating func remove(_ id: UInt32) { slab.remove(id) }

    mutating func removeAll() { slab = EvictionSlab(seed: 1) }

    /// Returns the entry to remove next; nil if the limits hold.
    mutating func victim() -> (id: UInt32, isForCost: Bool)? {
        let overCost = limits.cost > 0 && slab.totalCost > limits.cost
        guard overCost || (limits.count > 0 && slab.count > limits.count) else { return nil }
        hasEvicted = true
        guard let id = slab.victim(by: duel.winner, limits: limits, epoch: sketch.epoch) else { return nil }
        return (id, overCost)
    }

    /// Returns the entry to remove next to lower the total cost; nil if it is not above `cost`.
    mutating func victim(toCost cost: Int) -> UInt32? {
        guard slab.totalCost > cost else { return nil }
        return slab.victim(by: duel.winner, limits: EvictionLimits(cost: max(cost, 1)), epoch: sketch.epoch)
    }

    private mutating func note(_ hash: UInt64, cost: Int) -> UInt8 {
        if slab.count > sketch.capacity { growSketch() }
        let frequency = sketch.add(hash)
        if hasEvicted, duel.samples(hash) {
            duel.request(hash, cost: cost, frequency: frequency, epoch: sketch.epoch, limits: limits)
        }
        guard sketch.isDue(count: slab.count) else { return frequency }
        sketch.halve()
        return frequency >> 1
    }

    private mutating func growSketch() {
        sketch.reset(capacity: slab.count * 2)
        for id in slab.ids {
            sketch.restore(slab.entries[Int(id)].hash, count: slab.frequency(of: id, epoch: sketch.epoch))
        }
    }
}
