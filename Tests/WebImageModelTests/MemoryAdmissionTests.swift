import Testing

@testable import WebImageModel

@Suite struct MemoryAdmissionTests {
    /// Actions in words, so that rows of expectations read well.
    private func words(_ actions: [MemoryAdmission.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .decide(let id, .admitted): "admit \(id)"
            case .decide(let id, .smaller(let room)): "\(id) within \(room >> 10)K"
            case .decide(let id, .refused(let room)): "refuse \(id) \(room >> 10)K"
            case .evict(let bytes, let id): "evict \(bytes >> 10)K for \(id)"
            case .startTimer(let id): "timer \(id)"
            }
        }
    }

    private func budget(_ kibibytes: Int, shrinks: Bool = true) -> MemoryAdmission {
        MemoryAdmission(limit: kibibytes << 10, shrinks: shrinks)
    }

    private func ask(
        _ budget: inout MemoryAdmission,
        _ kibibytes: Int,
        _ priority: LoadPriority = .normal,
        domain: String = "",
        mayShrink: Bool = true,
        isBegun: Bool = false,
        waits: Bool = true,
        evicts: Bool = true
    ) -> [String] {
        words(
            budget.ask(
                kibibytes << 10,
                priority: priority,
                domain: domain,
                mayShrink: mayShrink,
                isBegun: isBegun,
                waits: waits,
                evicts: evicts
            ).actions
        )
    }

    private func end(_ budget: inout MemoryAdmission, _ kibibytes: Int, holding held: Int = 0) -> [String] {
        words(budget.end(kibibytes << 10, holding: held << 10))
    }

    private func evicted(_ budget: inout MemoryAdmission, _ id: UInt64) -> [String] { words(budget.evicted(for: id)) }

    private func release(_ budget: inout MemoryAdmission, _ kibibytes: Int) -> [String] {
        words(budget.release(kibibytes << 10))
    }

    @Test
    func `A request that fits is admitted at once, and memory of running decodes and living pixels is not available`() {
        var budget = budget(1000)
        let first = ask(&budget, 400)
        let second = ask(&budget, 600)
        #expect(first == ["admit 1"] && second == ["admit 2"])
        #expect(budget.inFlight == 1000 << 10 && budget.runningCount == 2)
        let ended = end(&budget, 400, holding: 300)
        #expect(ended == [] && budget.held == 300 << 10 && budget.inFlight == 600 << 10)
        #expect(budget.peak == 1000 << 10)
    }

    @Test func `Policies take turns, even if one of them wants all the memory`() {
        var budget = budget(1000)
        let first = ask(&budget, 1000, domain: "strangers")
        let second = ask(&budget, 1000, domain: "strangers")
        #expect(first == ["admit 1"] && second == ["evict 1000K for 2"])
        let waits = evicted(&budget, 2)
        #expect(waits == [])
        for _ in 3...6 { _ = ask(&budget, 1000, domain: "strangers") }
        let own = ask(&budget, 10)
        #expect(own == [])
        // The one before it has its turn first.
        let next = end(&budget, 1000)
        #expect(next == ["admit 2", "evict 10K for 7"])
        let stillWaits = evicted(&budget, 7)
        #expect(stillWaits == [])
        let third = end(&budget, 1000)
        #expect(third == ["admit 7", "evict 10K for 3"])
        // Work that has begun comes first in any case, and a priority before turns.
        let begun = ask(&budget, 900, domain: "strangers", isBegun: true)
        #expect(begun == ["admit 8"] && budget.peak == 1000 << 10)
    }

    @Test func `Without a limit all are admitted`() {
        var budget = budget(0)
        let seen = words(budget.ask(.max / 4, priority: .low, mayShrink: false).actions)
        #expect(seen == ["admit 1"])
    }

    @Test func `First caches are emptied, then it waits for running work, then it is decided`() {
        var budget = budget(1000)
        let first = ask(&budget, 700)
        let second = ask(&budget, 600)
        #expect(first == ["admit 1"] && second == ["evict 300K for 2"])
        // Nothing could be evicted: it waits.
        let waits = evicted(&budget, 2)
        #expect(waits == [] && budget.waitingCount == 1)
        // The decoded image may be in a cache by now.
        let ended = end(&budget, 700, holding: 500)
        #expect(ended == ["evict 100K for 2"])
        let decided = evicted(&budget, 2)
        #expect(decided == ["2 within 500K"] && budget.waitingCount == 0)
    }

    @Test func `Evicted memory admits it`() {
        var budget = budget(1000)
        _ = words(budget.hold(900 << 10))
        let asked = ask(&budget, 300)
        #expect(asked == ["evict 200K for 1"])
        // The evicting thread continues the request, so that it is decided once and there.
        let released = release(&budget, 400)
        #expect(released == [])
        let decided = evicted(&budget, 1)
        #expect(decided == ["admit 1"])
    }

    @Test func `A request that may not be scaled down is refused, and so are all if the policy says so`() {
        var budget = budget(1000)
        _ = words(budget.hold(800 << 10))
        _ = ask(&budget, 300, mayShrink: false)
        let refused = evicted(&budget, 1)
        #expect(refused == ["refuse 1 200K"])
        var strict = self.budget(1000, shrinks: false)
        _ = words(strict.hold(800 << 10))
        _ = ask(&strict, 300)
        let other = evicted(&strict, 1)
        #expect(other == ["refuse 1 200K"])
    }

    @Test func `A request above the limit is decided at once, whatever is running`() {
        var budget = budget(1000)
        let first = ask(&budget, 1000)
        let huge = ask(&budget, 1001)
        #expect(first == ["admit 1"] && huge == ["2 within 1000K"])
        let most = words(budget.ask(.max, priority: .high, mayShrink: false).actions)
        #expect(most == ["refuse 3 1000K"])
    }

    @Test func `Less than 64 KiB is not offered`() {
        var budget = budget(1000)
        _ = words(budget.hold(950 << 10))
        _ = ask(&budget, 100)
        let refused = evicted(&budget, 1)
        #expect(refused == ["refuse 1 50K"])
    }

    @Test func `Waiting requests are ordered by priority, then by arrival, and small ones do not overtake`() {
        var budget = budget(1000)
        _ = ask(&budget, 1000)
        let asked = [LoadPriority.low, .normal, .high, .normal].map { ask(&budget, $0 == .high ? 900 : 100, $0) }
        #expect(asked == [["evict 100K for 2"], ["evict 100K for 3"], ["evict 900K for 4"], []])
        let evictions = [2, 3, 4].map { evicted(&budget, $0) }
        #expect(evictions == [[], [], []])
        let ended = end(&budget, 1000)
        #expect(ended == ["admit 4", "admit 3", "evict 100K for 5"])
    }

    @Test func `A change of priority counts, and a change back restores the order`() {
        var budget = budget(1000)
        _ = ask(&budget, 1000)
        _ = ask(&budget, 1000, .normal)
        _ = evicted(&budget, 2)
        _ = ask(&budget, 1000, .low)
        budget.setPriority(.high, of: 3)
        budget.setPriority(.low, of: 2)
        budget.setPriority(.normal, of: 2)
        let ended = end(&budget, 1000)
        #expect(ended == ["admit 3", "evict 1000K for 2"])
        budget.setPriority(.high, of: 99)
    }

    @Test func `A cancelled request lets the next one in, and leaves nothing behind`() {
        var budget = budget(1000)
        _ = ask(&budget, 500)
        _ = ask(&budget, 800)
        _ = evicted(&budget, 2)
        _ = ask(&budget, 300)
        let cancelled = words(budget.cancel(2))
        #expect(cancelled == ["admit 3"] && budget.waitingCount == 0)
        let again = words(budget.cancel(2))
        #expect(again == [])
    }

    @Test func `A request that does not wait is decided before all others, by eviction`() {
        var budget = budget(1000)
        _ = ask(&budget, 900)
        _ = ask(&budget, 500)
        _ = evicted(&budget, 2)
        let asked = ask(&budget, 400, waits: false)
        #expect(asked == ["evict 300K for 3"])
        let decided = evicted(&budget, 3)
        #expect(decided == ["3 within 100K"] && budget.waitingCount == 1)
        let modest = ask(&budget, 400, mayShrink: false, waits: false, evicts: false)
        #expect(modest == ["refuse 4 100K"])
    }

    @Test func `Requests that do not wait do not wait for each other either`() {
        var budget = budget(1000)
        _ = words(budget.hold(900 << 10))
        let first = ask(&budget, 300, waits: false)
        // The thread that empties a cache for the first one may be blocked by the thread that makes the second request.
        let second = ask(&budget, 200, waits: false)
        #expect(first == ["evict 200K for 1"] && second == ["evict 100K for 2"])
        let released = release(&budget, 150)
        let decided = evicted(&budget, 2)
        #expect(released == [] && decided == ["admit 2"])
        let last = evicted(&budget, 1)
        #expect(last == ["refuse 1 50K"])
        #expect(budget.waitingCount == 0)
    }

    @Test func `Memory freed for a request that does not wait is not taken by waiting ones`() {
        var budget = budget(1000)
        _ = ask(&budget, 100)
        _ = words(budget.hold(900 << 10))
        _ = ask(&budget, 200)
        _ = evicted(&budget, 2)
        let asked = ask(&budget, 300, waits: false)
        #expect(asked == ["evict 300K for 3"])
        let released = [200, 150].map { release(&budget, $0) }
        #expect(released == [[], []])
        let decided = evicted(&budget, 3)
        #expect(decided == ["admit 3"] && budget.waitingCount == 1)
    }

    @Test func `A cache that decodes while it is emptied does not recurse forever`() {
        var budget = budget(1000)
        _ = words(budget.hold(950 << 10))
        var asked: [[String]] = []
        while asked.count < 100, asked.last?.first?.hasPrefix("refuse") != true {
            asked.append(ask(&budget, 100, waits: false))
        }
        #expect(asked.count == 17)
    }

    @Test func `A request for only the remaining memory does not overtake waiting ones`() {
        var budget = budget(1000)
        _ = ask(&budget, 900)
        _ = ask(&budget, 500)
        _ = evicted(&budget, 2)
        let early = ask(&budget, 50, mayShrink: false, waits: false, evicts: false)
        #expect(early == ["refuse 3 100K"])
        _ = words(budget.cancel(2))
        let late = ask(&budget, 50, mayShrink: false, waits: false, evicts: false)
        #expect(late == ["admit 4"])
    }

    @Test func `Begun work that holds pixels precedes other work, whatever its priority`() {
        var budget = budget(1000)
        _ = ask(&budget, 1000)
        let waiting = ask(&budget, 500, .high)
        let begun = ask(&budget, 100, .low, isBegun: true)
        #expect(waiting == ["evict 500K for 2"] && begun == ["evict 100K for 3"])
        budget.setPriority(.normal, of: 3)
        let ended = end(&budget, 1000)
        #expect(ended == ["admit 3", "admit 2"])
    }

    @Test func `While pixels are on their way to a cache, other requests wait for them`() {
        var budget = budget(1000)
        _ = ask(&budget, 700)
        _ = ask(&budget, 600)
        _ = evicted(&budget, 2)
        // No cache has them yet, so eviction frees nothing, but they may be freed later.
        let made = words(budget.made(700 << 10, keeping: 100 << 10, holding: 500 << 10))
        #expect(made == ["timer 2"] && budget.inFlight == 100 << 10 && budget.held == 500 << 10)
        let delivered = words(budget.end(100 << 10, isDelivered: true))
        #expect(delivered == ["evict 100K for 2"])
        _ = release(&budget, 500)
        let decided = evicted(&budget, 2)
        #expect(decided == ["admit 2"] && budget.deliveringCount == 0 && budget.runningCount == 1)
    }

    @Test func `Waiting for pixels in transfer is limited`() {
        var budget = budget(1000)
        _ = ask(&budget, 700)
        _ = ask(&budget, 600)
        _ = evicted(&budget, 2)
        let made = words(budget.made(700 << 10, keeping: 0, holding: 700 << 10))
        #expect(made == ["timer 2"] && budget.currentPatience > 0 && budget.patience == 0)
        let over = words(budget.timeIsOver(for: 2))
        #expect(over == ["2 within 300K"])
        // A transformer uses them.
        _ = ask(&budget, 600)
        _ = evicted(&budget, 3)
        budget.goOn()
        let late = words(budget.timeIsOver(for: 3))
        #expect(late == [])
    }

    @Test func `With a patience it waits for pixels with other owners, once and for that time`() {
        var budget = budget(1000)
        budget.patience = 5
        _ = words(budget.hold(900 << 10))
        _ = ask(&budget, 300)
        let first = evicted(&budget, 1)
        #expect(first == ["timer 1"])
        let less = release(&budget, 100)
        #expect(less == [])
        let over = words(budget.timeIsOver(for: 1))
        #expect(over == ["1 within 200K"])
        _ = ask(&budget, 300)
        let second = evicted(&budget, 2)
        let released = release(&budget, 600)
        #expect(second == ["timer 2"] && released == ["admit 2"])
        let late = words(budget.timeIsOver(for: 2))
        #expect(late == [])
    }

    @Test func `A raised limit admits waiting requests, a removed one all`() {
        var budget = budget(1000)
        _ = ask(&budget, 800)
        _ = ask(&budget, 800)
        _ = evicted(&budget, 2)
        _ = ask(&budget, 800)
        let grown = words(budget.change { $0.limit = 1600 << 10 })
        #expect(grown == ["admit 2", "evict 800K for 3"])
        let off = words(budget.change { $0.limit = 0 })
        #expect(off == ["admit 3"])
    }

    @Test(arguments: 0..<40)
    func `In any history nobody waits while nothing is running, and the limit holds`(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        var budget = budget(1000, shrinks: seed.isMultiple(of: 2))
        var running: [Int] = []
        var needs: [UInt64: Int] = [:]
        var held: [Int] = []
        var evicting: [UInt64] = []
        func take(_ actions: [MemoryAdmission.Action]) {
            for action in actions {
                switch action {
                case .decide(let id, .admitted): running.append(needs.removeValue(forKey: id) ?? -1)
                case .decide(let id, _): needs[id] = nil
                case .evict(_, let id): evicting.append(id)
                case .startTimer: Issue.record("there is no patience")
                }
            }
        }
        for _ in 0..<400 {
            switch random.next(below: 6) {
            case 0, 1:
                let need = (1 + random.next(below: 1100)) << 10
                let priority = LoadPriority.allCases[random.next(below: 3)]
                let asked = budget.ask(
                    need,
                    priority: priority,
                    mayShrink: random.next(below: 2) == 0,
                    isBegun: random.next(below: 4) == 0,
                    waits: random.next(below: 6) > 0
                )
                needs[asked.id] = need
                take(asked.actions)
            case 2 where !running.isEmpty:
                let need = running.remove(at: random.next(below: running.count))
                let kept = random.next(below: need + 1)
                held.append(kept)
                take(budget.end(need, holding: kept))
            case 3 where !held.isEmpty: take(budget.release(held.remove(at: random.next(below: held.count))))
            case 4 where !needs.isEmpty:
                let ids = needs.keys.sorted()
                let id = ids[random.next(below: ids.count)]
                needs[id] = nil
                take(budget.cancel(id))
            default:
                guard !evicting.isEmpty else { continue }
                let id = evicting.removeFirst()
                if !held.isEmpty, random.next(below: 2) == 0 { take(budget.release(held.removeFirst())) }
                take(budget.evicted(for: id))
            }
            #expect(budget.inFlight == running.reduce(0, +) && budget.held == held.reduce(0, +))
            #expect(budget.inFlight + budget.held <= 1000 << 10)
            #expect(budget.waitingCount == needs.count)
            #expect(needs.isEmpty || !running.isEmpty || !evicting.isEmpty)
        }
    }
}

/// Numbers that are the same each time.
private struct SeededRandom {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
