/// The adaptive replacement cache of Megiddo and Modha, with every size in it counted in cost.
public struct ReferenceARC: SimulatedCache {
    // Lists: seen once, seen more often, and the ghosts of both.
    private static let recent = 0
    private static let frequent = 1
    private static let recentGhosts = 2
    private static let frequentGhosts = 3

    private var items: LinkedItems
    private let capacity: Int
    private let costs: [Int32]
    private var target = 0.0

    /// A cache of `capacity` for the items of `trace`.
    public init(capacity: Int, trace: CacheTrace) {
        self.capacity = capacity
        costs = trace.costs
        items = LinkedItems(itemCount: trace.costs.count, lists: 4)
    }

    /// Returns whether `item` was there; if not, it is inserted.
    public mutating func access(_ item: Int, cost: Int) -> Bool {
        let list = items.list(of: item)
        if list == Self.recent || list == Self.frequent {
            items.move(item, cost: cost, to: Self.frequent)
            return true
        }
        guard cost <= capacity else { return false }
        let ghosts = (recent: Double(items.cost[2]), frequent: Double(items.cost[3]))
        switch list {
        case Self.recentGhosts:
            target = min(Double(capacity), target + Double(cost) * max(1, ghosts.frequent / max(ghosts.recent, 1)))
        case Self.frequentGhosts:
            target = max(0, target - Double(cost) * max(1, ghosts.recent / max(ghosts.frequent, 1)))
        default: break
        }
        if list >= 0 { items.remove(item, cost: cost) }
        makeRoom(for: cost, wasFrequentGhost: list == Self.frequentGhosts)
        items.insertFirst(item, cost: cost, into: list >= 0 ? Self.frequent : Self.recent)
        trimGhosts()
        return false
    }

    private mutating func makeRoom(for cost: Int, wasFrequentGhost: Bool) {
        while items.cost[Self.recent] + items.cost[Self.frequent] + cost > capacity {
            let recentCost = Double(items.cost[Self.recent])
            let fromRecent = recentCost > target || (wasFrequentGhost && recentCost == target)
            let order = fromRecent ? [Self.recent, Self.frequent] : [Self.frequent, Self.recent]
            for list in order {
                guard let victim = items.last(of: list) else { continue }
                items.move(victim, cost: Int(costs[victim]), to: list + 2)
                break
            }
        }
    }

    private mutating func trimGhosts() {
        while items.cost[Self.recent] + items.cost[Self.recentGhosts] > capacity,
            let ghost = items.last(of: Self.recentGhosts)
        {
            items.remove(ghost, cost: Int(costs[ghost]))
        }
        while items.cost.reduce(0, +) > 2 * capacity, let ghost = items.last(of: Self.frequentGhosts) {
            items.remove(ghost, cost: Int(costs[ghost]))
        }
    }
}
