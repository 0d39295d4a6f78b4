import Glibc

/// Which entry has to go when there is no room.
enum EvictionRule: UInt8 {
    /// The one that was not asked for the longest: best when things come back in the order they went, as in scrolling.
    case recency
    /// The one with the fewest expected hits for the room it takes: best when some things are more popular than others.
    case density
}

/// How much room there is. Zero means that a resource is not limited.
struct EvictionLimits: Equatable {
    var cost = 0
    var count = 0
}

/// The entries of a cache as numbers: cost, how often and when each was asked for, in a list by recency.
///
/// Entries live in one array and refer to each other by index: no object and no allocation per entry. 40 bytes each.
struct EvictionSlab {
    struct Entry {
        var hash: UInt64 = 0
        var cost = 0
        /// The clock at the last request.
        var stamp: UInt32 = 0
        var previous: UInt32 = 0
        var next: UInt32 = 0
        /// Where the entry is in `ids`.
        var position: UInt32 = 0
        /// Requests as of `epoch` of the sketch.
        var epoch: UInt16 = 0
        var frequency: UInt8 = 0
    }

    /// Entry 0 is the head of the list by recency and of nothing else.
    private(set) var entries: ContiguousArray<Entry> = [Entry()]
    private(set) var ids: ContiguousArray<UInt32> = []
    private var vacant: ContiguousArray<UInt32> = []
    private(set) var totalCost = 0
    private var clock: UInt32 = 0
    private var random: UInt64

    /// Entries looked at to find one of low density. With more, the worst is found more surely; the cost grows with it.
    private static let sampleSize = 32

    init(seed: UInt64) { random = seed | 1 }

    var count: Int { ids.count }
    /// The highest number an entry has or had.
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

    /// What `entry.frequency` is worth now.
    func frequency(of id: UInt32, epoch: UInt16) -> UInt8 {
        entries[Int(id)].frequency >> UInt8(min(epoch &- entries[Int(id)].epoch, 8))
    }

    /// The entry to remove by `rule`; never the newest, which was only just asked for, unless it is the only one.
    mutating func victim(by rule: EvictionRule, limits: EvictionLimits, epoch: UInt16) -> UInt32? {
        guard let oldest else { return nil }
        guard rule == .density, count > 2 else { return oldest }
        let weights = Weights(limits, count: count)
        var victim = oldest
        var lowest = density(of: oldest, weights, epoch)
        for step in 0..<min(Self.sampleSize, count) {
            // A small cache is looked at as a whole.
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

    /// What a byte and an entry take of the room that there is, and how fast entries grow old.
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

    /// Requests to expect for the room taken: the count of late, fading slowly with the time since the last one.
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
