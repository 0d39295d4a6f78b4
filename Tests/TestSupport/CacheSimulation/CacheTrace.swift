import Glibc

/// A sequence of requests for items of known cost, for evaluating eviction policies.
public struct CacheTrace: Sendable {
    /// The kind of access pattern.
    public let name: String
    /// The item of each request.
    public private(set) var requests: [Int32] = []
    /// The cost of each item.
    public private(set) var costs: [Int32] = []

    /// The cost of all items together.
    public var footprint: Int { costs.reduce(0) { $0 + Int($1) } }

    /// A trace without requests; `requestCount` is the number of requests to come.
    public init(name: String, requestCount: Int) {
        self.name = name
        requests.reserveCapacity(requestCount)
    }

    /// Adds an item; returns its number.
    @discardableResult
    public mutating func addItem(cost: Int) -> Int {
        costs.append(Int32(clamping: cost))
        return costs.count - 1
    }

    mutating func addItems(_ count: Int, median: Double, _ random: inout SeededGenerator) {
        for _ in 0..<count { _ = addItem(cost: Self.logNormal(median: median, &random)) }
    }

    /// Adds a request.
    public mutating func request(_ item: Int) { requests.append(Int32(item)) }

    /// Images' sizes: log-normal, so that a few are thirty times as big as most.
    static func logNormal(median: Double, _ random: inout SeededGenerator) -> Int {
        max(1, Int(median * exp(random.normal())))
    }

    /// The share of requests that `cache` answers.
    public func hitRatio(_ cache: inout some SimulatedCache) -> Double {
        var hits = 0
        for item in requests where cache.access(Int(item), cost: Int(costs[Int(item)])) { hits += 1 }
        return Double(hits) / Double(max(requests.count, 1))
    }
}

/// A cache of which only the hits are simulated.
public protocol SimulatedCache {
    /// Returns whether `item` was there; if not, it is inserted.
    mutating func access(_ item: Int, cost: Int) -> Bool
}
