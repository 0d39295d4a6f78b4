import CLinux
import Glibc

/// The rule that selects the entry to evict.
enum EvictionRule: UInt8 {
    /// The least recently used entry: best if entries return in the order in which they were used, as in scrolling.
    case recency
    /// The entry with the fewest expected hits for its share of the limits: best if some entries are more popular than others.
    case density
}

/// The limits of a cache. Zero means that a resource is not limited.
struct EvictionLimits: Equatable {
    var cost = 0
    var count = 0
}

/// The entries of a cache as numbers: cost, frequency and time of the last request, in an LRU list.
///
/// Entries are stored in one array and refer to each other by index: no object and no allocation per entry. 40 bytes each.
struct EvictionSlab {
    struct Entry {
        var hash: UInt64 = 0
        var cost = 0
        /// The clock at the last request.
        var stamp: UInt32 = 0
        var previous: UInt32 = 0
        var next: UInt32 = 0
        /// The index of the entry in `ids`.
        var position: UInt32 = 0
        /// The request count as of `epoch` of the sketch.
        var epoch: UInt16 = 0
        var frequency: UInt8 = 0
    }

    /// Entry 0 is only the head of the LRU list.
    private(set) var entries: ContiguousArray<Entry> = [Entry()]
    private(set) var ids: ContiguousArray<UInt32> = []
    private var vacant: ContiguousArray<UInt32> = []
    private(set) var totalCost = 0
    private var clock: UInt32 = 0
    private var random: UInt64

    /// The number of entries examined to find one of low density. More find the worst entry more reliably, at a higher cost.
    private static let sampleSize = 32

    init(seed: UInt64) { random = seed | 1 }

    var count: Int { ids.count }
    /// The highest entry number so far.
    var highestID: UInt32 { UInt32(entries.count - 1) }
    var oldest: UInt32? { entries[0].previous == 0 ? nil : entries[0].previous }

    mutating func insert(hash: UInt64, cost: Int, frequency: UInt8, epoch: UInt16) -> UInt32 {
        clock &+= 1
        let id: UInt32
        if let reused = vacant.popLast() {
            id = reused
        } else {
            id = UInt32(entries.count)
            entries.append(Entry())
        }
        entries[Int(id)] = Entry(
            hash: hash,
            cost: cost,
            stamp: clock,
            position: UInt32(ids.count),
            epoch: epoch,
            frequency: frequency
        )
        ids.append(id)
        totalCost += cost
        linkFirst(id)
        return id
    }

    /// Begins to load entries and their neighbors in the list from memory.
    func prefetch(_ ids: UnsafeBufferPointer<UInt32>) {
        entries.withUnsafeBufferPointer { entries in
            guard let base = entries.baseAddress else { return }
            for id in ids { webimage_prefetch(base + Int(id)) }
            for id in ids {
                webimage_prefetch(base + Int(entries[Int(id)].previous))
                webimage_prefetch(base + Int(entries[Int(id)].next))
            }
        }
    }

    mutating func touch(_ id: UInt32, frequency: UInt8, epoch: UInt16) {
        clock &+= 1
        entries[Int(id)].stamp = clock
        entries[Int(id)].frequency = frequency
        entries[Int(id)].epoch = epoch
        guard entries[0].next != id else { return }
        unlink(id)
        linkFirst(id)
    }

    mutating func setCost(_ cost: Int, of id: UInt32) {
        totalCost += cost - entries[Int(id)].cost
        entries[Int(id)].cost = cost
    }

    mutating func remove(_ id: UInt32) {
        unlink(id)
        totalCost -= entries[Int(id)].cost
        let position = entries[Int(id)].position
        let moved = ids.removeLast()
        if moved != id {
            ids[Int(position)] = moved
            entries[Int(moved)].position = position
        }
        vacant.append(id)
    }

    /// Returns the entry's frequency as of now.
    func frequency(of id: UInt32, epoch: UInt16) -> UInt8 {
        entries[Int(id)].frequency >> UInt8(min(epoch &- entries[Int(id)].epoch, 8))
    }

    /// Returns the entry to remove by `rule`; never the newest, which was just requested, unless it is the only one.
    mutating func victim(by rule: EvictionRule, limits: EvictionLimits, epoch: UInt16) -> UInt32? {
        guard let oldest else { return nil }
        guard rule == .density, count > 2 else { return oldest }
        let weights = Weights(limits, count: count)
        var victim = oldest
        var lowest = density(of: oldest, weights, epoch)
        for step in 0..<min(Self.sampleSize, count) {
            // A small cache is examined completely.
            let id = ids[count <= Self.sampleSize ? step : nextIndex(below: count)]
            guard id != entries[0].next else { continue }
            let density = density(of: id, weights, epoch)
            if density < lowest {
                lowest = density
                victim = id
            }
        }
        return victim
    }

    /// The share of the limits that a byte and an entry take, and the speed at which entries age.
    private struct Weights {
        var perCost: Float
        var perEntry: Float
        var perTick: Float

        init(_ limits: EvictionLimits, count: Int) {
            perEntry = limits.count > 0 ? 1 / Float(limits.count) : 1e-12
            perCost = limits.cost > 0 ? 1 / Float(limits.cost) : (limits.count > 0 ? 0 : 1)
            perTick = 1 / Float(count)
        }
    }

    /// Returns the expected requests per share of the limits: the recent count, decaying slowly with the time since the last
    /// request.
    private func density(of id: UInt32, _ weights: Weights, _ epoch: UInt16) -> Float {
        let entry = entries[Int(id)]
        let frequency = Float(entry.frequency >> UInt8(min(epoch &- entry.epoch, 8)))
        let age = Float(clock &- entry.stamp) * weights.perTick + 0.02
        let room = Float(entry.cost) * weights.perCost + weights.perEntry
        return (frequency + 0.01) / (room * age.squareRoot().squareRoot())
    }

    private mutating func nextIndex(below bound: Int) -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return Int((random >> 32).multipliedReportingOverflow(by: UInt64(bound)).partialValue >> 32)
    }

    private mutating func unlink(_ id: UInt32) {
        let (previous, next) = (entries[Int(id)].previous, entries[Int(id)].next)
        entries[Int(previous)].next = next
        entries[Int(next)].previous = previous
    }

    private mutating func linkFirst(_ id: UInt32) {
        let first = entries[0].next
        entries[Int(id)].next = first
        entries[Int(id)].previous = 0
        entries[Int(first)].previous = id
        entries[0].next = id
    }
}
