/// Least recently used is evicted first: the plain policy that others are compared with.
public struct ReferenceLRU: SimulatedCache {
    private var items: LinkedItems
    private let capacity: Int
    private let costs: [Int32]

    /// A cache of `capacity` for the items of `trace`.
    public init(capacity: Int, trace: CacheTrace) {
        self.capacity = capacity
        costs = trace.costs
        items = LinkedItems(itemCount: trace.costs.count, lists: 1)
    }

    /// Returns whether `item` was there; if not, it is inserted.
    public mutating func access(_ item: Int, cost: Int) -> Bool {
        if items.list(of: item) == 0 {
            items.move(item, cost: cost, to: 0)
            return true
        }
        guard cost <= capacity else { return false }
        while items.cost[0] + cost > capacity, let victim = items.last(of: 0) {
            items.remove(victim, cost: Int(costs[victim]))
        }
        items.insertFirst(item, cost: cost, into: 0)
        return false
    }
}
