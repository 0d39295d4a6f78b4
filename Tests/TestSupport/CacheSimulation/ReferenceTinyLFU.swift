/// W-TinyLFU, size-aware and adaptive: a window before a segmented LRU, a candidate enters when it has been requested
/// more often than all those it would evict together, and the window's share climbs to the best hit ratio.
public struct ReferenceTinyLFU: SimulatedCache {
    private static let window = 0
    private static let probation = 1
    private static let protected = 2

    private var items: LinkedItems
    private let capacity: Int
    private let costs: [Int32]
    private var windowShare = 0.01
    // Exact counts in place of a sketch: the values of a sketch of unlimited size.
    private var counts: [UInt8]
    private var countedIn: [Int32]
    private var epoch: Int32 = 0
    private var additions = 0
    private var hits = 0
    private var requests = 0
    private var lastRatio = 0.0
    private var step = 0.0625

    /// A cache of `capacity` for the items of `trace`.
    public init(capacity: Int, trace: CacheTrace) {
        self.capacity = capacity
        costs = trace.costs
        counts = Array(repeating: 0, count: trace.costs.count)
        countedIn = Array(repeating: 0, count: trace.costs.count)
        items = LinkedItems(itemCount: trace.costs.count, lists: 3)
    }

    private var residentCount: Int { items.count.reduce(0, +) }
    private var windowLimit: Int { Int(Double(capacity) * windowShare) }

    /// Returns whether `item` was there; if not, it is inserted.
    public mutating func access(_ item: Int, cost: Int) -> Bool {
        count(item)
        climb()
        requests += 1
        let list = items.list(of: item)
        if list >= 0 {
            hits += 1
            items.move(item, cost: cost, to: list == Self.window ? Self.window : Self.protected)
            demote()
            return true
        }
        guard cost <= capacity else { return false }
        items.insertFirst(item, cost: cost, into: Self.window)
        shrinkWindow()
        return false
    }

    private mutating func count(_ item: Int) {
        counts[item] = UInt8(min(frequency(of: item) + 1, 15))
        countedIn[item] = epoch
        additions += 1
        guard additions >= 10 * max(residentCount, 16) else { return }
        additions /= 2
        epoch += 1
    }

    private func frequency(of item: Int) -> Int { Int(counts[item]) >> Int(min(epoch - countedIn[item], 8)) }

    private mutating func demote() {
        let limit = (capacity - windowLimit) * 4 / 5
        while items.cost[Self.protected] > limit, let item = items.last(of: Self.protected) {
            items.move(item, cost: Int(costs[item]), to: Self.probation)
        }
    }

    private mutating func shrinkWindow() {
        while items.cost[Self.window] > windowLimit, let candidate = items.last(of: Self.window) {
            let cost = Int(costs[candidate])
            items.remove(candidate, cost: cost)
            admit(candidate, cost: cost)
        }
    }

    private mutating func admit(_ candidate: Int, cost: Int) {
        let mainLimit = capacity - windowLimit
        guard cost <= mainLimit else { return }
        var victims: [Int] = []
        var freed = mainLimit - items.cost[Self.probation] - items.cost[Self.protected]
        var victimFrequency = 0
        while freed < cost, let victim = items.last(of: Self.probation) ?? items.last(of: Self.protected) {
            let victimCost = Int(costs[victim])
            items.remove(victim, cost: victimCost)
            victims.append(victim)
            freed += victimCost
            victimFrequency += frequency(of: victim)
        }
        if victims.isEmpty || frequency(of: candidate) > victimFrequency {
            items.insertFirst(candidate, cost: cost, into: Self.probation)
        } else {
            for victim in victims { items.insertFirst(victim, cost: Int(costs[victim]), into: Self.probation) }
        }
    }

    private mutating func climb() {
        guard requests >= 10 * max(residentCount, 16) else { return }
        let ratio = Double(hits) / Double(requests)
        let change = ratio - lastRatio
        if change < 0 { step = -step }
        if abs(change) >= 0.05 { step = step < 0 ? -0.0625 : 0.0625 } else { step *= 0.98 }
        lastRatio = ratio
        hits = 0
        requests = 0
        windowShare = min(max(windowShare + step, 0.01), 0.8)
        shrinkWindow()
        demote()
    }
}
