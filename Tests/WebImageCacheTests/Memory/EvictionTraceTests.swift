import TestSupport
import Testing

@testable import WebImageCache

/// The policy on traces of every kind, compared with reference policies.
@Suite struct EvictionTraceTests {
    private static let names = [
        "zipf-0.8", "zipf-1.0", "zipf-1.1", "zipf-1.0-drift", "feed-scroll", "grid-back-and-forth", "hot-set-and-scans",
    ]

    private static let traces = CacheTrace.all(scale: 0.03, seed: 1)

    @Test(arguments: names)
    func `The hit rate is at least 0.95 of the better of LRU and ARC`(name: String) throws {
        let trace = try #require(Self.traces.first { $0.name == name })
        for percent in [1, 5, 10] {
            let capacity = trace.footprint * percent / 100
            var policy = PolicySimulation(capacity: capacity, trace: trace)
            var lru = ReferenceLRU(capacity: capacity, trace: trace)
            var arc = ReferenceARC(capacity: capacity, trace: trace)
            let ours = trace.hitRatio(&policy)
            let best = max(trace.hitRatio(&lru), trace.hitRatio(&arc))
            #expect(ours >= 0.95 * best, "\(percent) %: \(ours) against \(best)")
        }
    }

    @Test func `The mean hit rate is above W-TinyLFU's`() {
        var sums = (ours: 0.0, theirs: 0.0)
        for trace in CacheTrace.all(scale: 0.01, seed: 3) {
            let capacity = trace.footprint / 20
            var policy = PolicySimulation(capacity: capacity, trace: trace)
            var tinyLFU = ReferenceTinyLFU(capacity: capacity, trace: trace)
            sums.ours += trace.hitRatio(&policy)
            sums.theirs += trace.hitRatio(&tinyLFU)
        }
        #expect(sums.ours > sums.theirs)
    }

    @Test func `The reference policies behave as defined`() {
        // Four items in a circle, room for three: LRU never hits.
        var circle = CacheTrace(name: "circle", requestCount: 0)
        for _ in 0..<4 { circle.addItem(cost: 1) }
        for number in 0..<400 { circle.request(number % 4) }
        var lru = ReferenceLRU(capacity: 3, trace: circle)
        #expect(circle.hitRatio(&lru) == 0)
        var all = ReferenceLRU(capacity: 4, trace: circle)
        #expect(circle.hitRatio(&all) == 0.99)
        var arc = ReferenceARC(capacity: 4, trace: circle)
        #expect(circle.hitRatio(&arc) == 0.99)
    }

    @Test func `A grid uses recency, popularity uses density`() throws {
        let traces = CacheTrace.all(scale: 0.02, seed: 1)
        for (name, rule) in [("grid-back-and-forth", EvictionRule.recency), ("zipf-0.8", .density)] {
            let trace = try #require(traces.first { $0.name == name })
            var policy = PolicySimulation(capacity: trace.footprint / 20, trace: trace)
            _ = trace.hitRatio(&policy)
            #expect(policy.rule == rule)
        }
    }
}

/// The bare policy, with arrays in place of keys and images.
struct PolicySimulation: SimulatedCache {
    private final class State {
        var policy: EvictionPolicy
        init(_ capacity: Int) { policy = EvictionPolicy(limits: EvictionLimits(cost: capacity)) }
    }

    private let state: State
    private var entryOfItem: [UInt32]
    private var itemOfEntry: [Int] = [0]
    private let hashes: [UInt64]

    init(capacity: Int, trace: CacheTrace) {
        state = State(capacity)
        entryOfItem = Array(repeating: 0, count: trace.costs.count)
        var random = SeededGenerator(seed: 77)
        hashes = trace.costs.map { _ in random.next() }
    }

    var rule: EvictionRule { state.policy.rule }

    mutating func access(_ item: Int, cost: Int) -> Bool {
        if entryOfItem[item] != 0 {
            state.policy.touch(entryOfItem[item])
            return true
        }
        guard state.policy.admits(cost: cost) else { return false }
        let id = state.policy.insert(hash: hashes[item], cost: cost)
        if Int(id) == itemOfEntry.count { itemOfEntry.append(item) } else { itemOfEntry[Int(id)] = item }
        entryOfItem[item] = id
        while let victim = state.policy.victim() {
            entryOfItem[itemOfEntry[Int(victim.id)]] = 0
            state.policy.remove(victim.id)
        }
        return false
    }
}
