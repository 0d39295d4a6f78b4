import Testing

@testable import WebImageCache

@Suite struct RollingEvictionTests {
    private typealias Step = RollingEviction.Step

    private func table(_ entries: [(String, size: Int)]) -> EntryTable {
        var table = EntryTable()
        for (index, entry) in entries.enumerated() {
            table.append(ScannedEntry(name: entry.0, allocatedSize: entry.size, time: Int64(index)))
        }
        return table
    }

    private func store(_ eviction: inout RollingEviction, _ size: Int, replacing old: Int = 0, _ name: String) {
        eviction.didStore(size, replacing: old, name: RollingEviction.tag(name))
    }

    /// Ends the walk with its findings.
    private func finish(_ eviction: inout RollingEviction, _ found: EntryTable, limit: Int) throws {
        let step = try #require(eviction.continuedStep())
        #expect(eviction.count(found, walk: step.walk) == true)
        var oldest = found
        oldest.keepOldest(until: eviction.wantedCandidates(limit: limit))
        eviction.finish(oldest, walk: step.walk)
    }

    @Test func `Each store examines at most a few entries`() throws {
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: 5000, written: 0)?.budget == 256)
        try finish(&eviction, table((0..<1000).map { ("\($0)", 10) }), limit: 5000)
        var evicted: [String] = []
        while true {
            let victims = eviction.victims(limit: 5000)
            guard !victims.isEmpty else { break }
            #expect(victims.count <= 16)
            evicted += victims.map(\.name)
            for victim in victims { eviction.didFree(victim.allocatedSize, name: RollingEviction.tag(victim.name)) }
        }
        #expect(evicted == (0..<500).map { "\($0)" })
        #expect(eviction.total == 5000)
    }

    @Test func `Without a limit nothing is ever scanned`() {
        var eviction = RollingEviction()
        store(&eviction, 1 << 40, "a")
        #expect(eviction.nextStep(limit: 0, written: 1 << 40) == nil)
        #expect(eviction.victims(limit: 0).isEmpty)
    }

    @Test func `A store's walk is as long as the store, and longer when it is due`() throws {
        let limit = 100_000_000
        var eviction = RollingEviction()
        let firstStep = eviction.nextStep(limit: limit, written: 0)
        let first = try #require(firstStep)
        #expect(eviction.nextStep(limit: limit, written: 100) == Step(walk: first.walk, budget: 16))
        #expect(eviction.nextStep(limit: limit, written: 51_200) == Step(walk: first.walk, budget: 100))
        #expect(eviction.nextStep(limit: limit, written: 1 << 30) == Step(walk: first.walk, budget: 256))
        #expect(eviction.continuedStep() == Step(walk: first.walk, budget: 256))
        store(&eviction, limit / 16, "a")
        #expect(eviction.nextStep(limit: limit, written: 100)?.budget == 16)
        store(&eviction, 1, "b")
        #expect(eviction.nextStep(limit: limit, written: 100)?.budget == 256)
    }

    @Test func `Stores during a scan count`() throws {
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: 1000, written: 0) != nil)
        store(&eviction, 300, "new")
        store(&eviction, 300, replacing: 100, "known")
        try finish(&eviction, table([("a", 600), ("known", 100)]), limit: 1000)
        #expect(eviction.total == 1200)
        // The next one scans again soon.
        let step = eviction.nextStep(limit: 1000, written: 0)
        #expect(step?.budget == 256)
    }

    @Test func `A store during a walk counts once, whether the walk passes it before or after`() throws {
        for found in [
            [("new", 300), ("known", 300)], [("known", 100)], [("known", 300)], [("known", 100), ("new", 300)],
        ] {
            var eviction = RollingEviction()
            #expect(eviction.nextStep(limit: 10_000, written: 0) != nil)
            store(&eviction, 200, "new")
            store(&eviction, 300, replacing: 200, "new")
            store(&eviction, 300, replacing: 100, "known")
            try finish(&eviction, table(found.map { ($0.0, size: $0.1) }), limit: 10_000)
            #expect(eviction.total == 600)
        }
    }

    @Test(arguments: [true, false]) func `A removal during a walk is subtracted once`(isFound: Bool) throws {
        let limit = 10_000
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: limit, written: 0) != nil)
        try finish(&eviction, table([("a", 400), ("b", 500)]), limit: limit)
        #expect(eviction.total == 900)
        store(&eviction, 4000, "c")
        #expect(eviction.nextStep(limit: limit, written: 0) != nil)
        eviction.didFree(400, name: RollingEviction.tag("a"))
        try finish(&eviction, table((isFound ? [("a", 400)] : []) + [("b", 500), ("c", 4000)]), limit: limit)
        #expect(eviction.total == 4500)
    }

    @Test(arguments: [true, false]) func `A removal that fails is taken back`(isDuringWalk: Bool) throws {
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: 10_000, written: 0) != nil)
        try finish(&eviction, table([("a", 400), ("b", 500)]), limit: 10_000)
        store(&eviction, 4000, "c")
        if isDuringWalk { #expect(eviction.nextStep(limit: 10_000, written: 0) != nil) }
        eviction.didFree(400, name: RollingEviction.tag("a"))
        #expect(eviction.total == 4500)
        eviction.didKeep(400, name: RollingEviction.tag("a"))
        #expect(eviction.total == 4900)
        guard isDuringWalk else { return }
        try finish(&eviction, table([("a", 400), ("b", 500), ("c", 4000)]), limit: 10_000)
        #expect(eviction.total == 4900)
    }

    @Test func `Other processes' writes and removals are noticed by the next walk`() throws {
        for (found, total) in [(900, 4900), (10, 4010)] {
            var eviction = RollingEviction()
            #expect(eviction.nextStep(limit: 10_000, written: 0) != nil)
            try finish(&eviction, table([("a", 400)]), limit: 10_000)
            store(&eviction, 4000, "c")
            #expect(eviction.nextStep(limit: 10_000, written: 0) != nil)
            try finish(&eviction, table([("a", found), ("c", 4000)]), limit: 10_000)
            #expect(eviction.total == total)
        }
    }

    @Test func `Entries removed while the list was made are not looked for`() throws {
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: 100, written: 0) != nil)
        eviction.didFree(10, name: RollingEviction.tag("0"))
        try finish(&eviction, table((0..<20).map { ("\($0)", 10) }), limit: 100)
        #expect(eviction.victims(limit: 100).first?.name == "1")
    }

    @Test func `A directory that seems half empty is scanned again, too`() throws {
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: 1000, written: 0) != nil)
        try finish(&eviction, EntryTable(), limit: 1000)
        store(&eviction, 250, "a")
        #expect(eviction.nextStep(limit: 1000, written: 250) == nil)
        store(&eviction, 1, "b")
        #expect(eviction.nextStep(limit: 1000, written: 1) != nil)
    }

    @Test func `After a failed scan the next store scans again`() throws {
        var eviction = RollingEviction()
        let firstStep = eviction.nextStep(limit: 1000, written: 0)
        let first = try #require(firstStep)
        eviction.abandon(walk: first.walk)
        #expect(eviction.total == nil)
        let secondStep = eviction.nextStep(limit: 1000, written: 0)
        let second = try #require(secondStep)
        #expect(second.walk != first.walk)
        #expect(second.budget == 256)
    }

    @Test func `The findings of a walk are discarded when everything is removed`() throws {
        var eviction = RollingEviction()
        let firstStep = eviction.nextStep(limit: 1000, written: 0)
        let first = try #require(firstStep)
        eviction.reset()
        #expect(eviction.count(table([("a", 10)]), walk: first.walk) == false)
        eviction.finish(table([("a", 10)]), walk: first.walk)
        #expect(eviction.total == nil)
        #expect(eviction.nextStep(limit: 1000, written: 0)?.walk != first.walk)
        #expect(eviction.count(table([("a", 10)]), walk: first.walk) == false)
    }

    @Test func `If nothing can be removed, not every store scans again`() throws {
        var eviction = RollingEviction()
        #expect(eviction.nextStep(limit: 6400, written: 0) != nil)
        try finish(&eviction, table((0..<1000).map { ("\($0)", 10) }), limit: 6400)
        while !eviction.victims(limit: 6400).isEmpty {}
        #expect(eviction.nextStep(limit: 6400, written: 100) == nil)
        store(&eviction, 101, "a")
        #expect(eviction.nextStep(limit: 6400, written: 101) != nil)
    }
}
