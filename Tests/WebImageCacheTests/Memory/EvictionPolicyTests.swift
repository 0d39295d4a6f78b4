import TestSupport
import Testing

@testable import WebImageCache

@Suite struct EvictionPolicyTests {
    private func hash(_ number: Int) -> UInt64 {
        var random = SeededGenerator(seed: UInt64(number))
        return random.next()
    }

    @Test func `By recency the oldest is evicted first`() {
        var slab = EvictionSlab(seed: 1)
        let ids = (0..<5).map { slab.insert(hash: hash($0), cost: 1, frequency: 1, epoch: 0) }
        slab.touch(ids[0], frequency: 2, epoch: 0)
        var order: [UInt32] = []
        while let victim = slab.victim(by: .recency, limits: EvictionLimits(), epoch: 0) {
            order.append(victim)
            slab.remove(victim)
        }
        #expect(order == [ids[1], ids[2], ids[3], ids[4], ids[0]])
        #expect(slab.count == 0 && slab.totalCost == 0)
    }

    @Test func `By density big and seldom used images are evicted first`() {
        var slab = EvictionSlab(seed: 1)
        let often = slab.insert(hash: hash(1), cost: 1000, frequency: 200, epoch: 0)
        let big = slab.insert(hash: hash(2), cost: 1000, frequency: 2, epoch: 0)
        let small = slab.insert(hash: hash(3), cost: 10, frequency: 2, epoch: 0)
        let newest = slab.insert(hash: hash(4), cost: 10_000, frequency: 1, epoch: 0)
        let limits = EvictionLimits(cost: 5000)
        let first = slab.victim(by: .density, limits: limits, epoch: 0)
        #expect(first == big)
        slab.remove(big)
        let second = slab.victim(by: .density, limits: limits, epoch: 0)
        #expect(second == often || second == small)
        #expect(slab.entries[0].next == newest)
    }

    @Test func `With only a count limit, cost does not matter`() {
        var slab = EvictionSlab(seed: 1)
        let bigAndLoved = slab.insert(hash: hash(1), cost: 1 << 30, frequency: 50, epoch: 0)
        let small = slab.insert(hash: hash(2), cost: 1, frequency: 1, epoch: 0)
        _ = slab.insert(hash: hash(3), cost: 1, frequency: 1, epoch: 0)
        let byCount = slab.victim(by: .density, limits: EvictionLimits(count: 3), epoch: 0)
        let byCost = slab.victim(by: .density, limits: EvictionLimits(cost: 10), epoch: 0)
        #expect(byCount == small && byCost == bigAndLoved)
    }

    @Test func `Older counts have less weight`() {
        var slab = EvictionSlab(seed: 1)
        let id = slab.insert(hash: 1, cost: 1, frequency: 64, epoch: 65_535)
        #expect(slab.frequency(of: id, epoch: 65_535) == 64)
        #expect(slab.frequency(of: id, epoch: 1) == 16, "the epoch wraps around")
        #expect(slab.frequency(of: id, epoch: 1000) == 0)
    }

    @Test func `The newest entry is never evicted while there is another`() {
        var policy = EvictionPolicy(limits: EvictionLimits(cost: 1000))
        var random = SeededGenerator(seed: 3)
        for number in 0..<5000 {
            let id = policy.insert(hash: hash(number % 300 + number / 7), cost: 1 + random.below(1000))
            while let victim = policy.victim() {
                #expect(victim.id != id)
                policy.remove(victim.id)
            }
            #expect(policy.totalCost <= 1000)
        }
    }

    @Test func `A cost that exactly fills the cache is admitted, one more is not`() {
        let policy = EvictionPolicy(limits: EvictionLimits(cost: 10))
        let unlimited = EvictionPolicy(limits: EvictionLimits())
        let answers = [policy.admits(cost: 10), policy.admits(cost: 11), unlimited.admits(cost: .max)]
        #expect(answers == [true, false, true])
    }

    @Test func `Entries are reused`() {
        var policy = EvictionPolicy(limits: EvictionLimits(count: 10))
        for number in 0..<10_000 {
            _ = policy.insert(hash: hash(number), cost: 1)
            while let victim = policy.victim() { policy.remove(victim.id) }
        }
        #expect(policy.count == 10)
        #expect(policy.highestID <= 11)
    }

    @Test func `Hits are skipped only after a long time without an insertion`() {
        var policy = EvictionPolicy(limits: EvictionLimits())
        let id = policy.insert(hash: 1, cost: 1)
        for _ in 0..<200 { policy.touch(id) }
        let atFirst = policy.hitsToSkip()
        #expect(atFirst == 0)
        for _ in 0..<200 { policy.touch(id) }
        let later = policy.hitsToSkip()
        #expect((256..<768).contains(later))
        _ = policy.insert(hash: 2, cost: 1)
        let inTheEnd = policy.hitsToSkip()
        #expect(inTheEnd == 0)
    }
}

@Suite struct SetDuelingTests {
    @Test func `The duel stays small for any number of keys`() {
        var duel = SetDueling()
        var random = SeededGenerator(seed: 9)
        for _ in 0..<200_000 {
            let hash = random.next()
            guard duel.samples(hash) else { continue }
            duel.request(hash, cost: 1, frequency: 1, epoch: 0, limits: EvictionLimits(cost: 100_000))
        }
        #expect(duel.shift >= 6)
        #expect(duel.entryCount <= 2 * 1024)
    }

    @Test func `A shadow knows its would-be hits`() {
        var shadow = ShadowCache(rule: .recency, seed: 1)
        let limits = EvictionLimits(cost: 2)
        func request(_ hash: UInt64) -> Bool {
            shadow.request(hash, cost: 1, frequency: 1, epoch: 0, limits: limits)
        }
        var hits: [Bool] = []
        for hash in [1, 2, 1, 3, 2, 1] as [UInt64] { hits.append(request(hash)) }
        #expect(hits == [false, false, true, false, false, false])
        #expect(shadow.count == 2 && shadow.totalCost == 2)
        let tooBig = shadow.request(9, cost: 3, frequency: 1, epoch: 0, limits: limits)
        #expect(!tooBig)
        #expect(shadow.count == 2, "an image above the limit is not admitted")
        shadow.keep { $0 == 1 }
        #expect(shadow.count == 1)
    }

    @Test func `A shadow distinguishes keys whose hashes are only half the same`() {
        var shadow = ShadowCache(rule: .recency, seed: 1)
        var hits: [Bool] = []
        for hash in [1, 1 | 1 << 40, 1, 1 | 1 << 40] as [UInt64] {
            hits.append(shadow.request(hash, cost: 1, frequency: 1, epoch: 0, limits: EvictionLimits(cost: 2)))
        }
        #expect(hits == [false, false, true, true])
    }

    @Test func `Recency is used until the other policy has proved better`() {
        let policy = EvictionPolicy(limits: EvictionLimits(cost: 1))
        #expect(policy.rule == .recency)
    }
}

@Suite struct FrequencySketchTests {
    @Test func `Counts are never too low, and seldom too high`() {
        var sketch = FrequencySketch(capacity: 1024)
        var random = SeededGenerator(seed: 5)
        let popularity = ZipfDistribution(count: 1024, exponent: 0.9)
        let hashes = (0..<1024).map { _ in random.next() }
        var truth = [Int](repeating: 0, count: 1024)
        var tooHigh = 0
        for _ in 0..<8000 {
            let item = popularity.sample(&random)
            truth[item] += 1
            let count = Int(sketch.add(hashes[item]))
            #expect(count >= min(truth[item], 255))
            if count > truth[item] { tooHigh += 1 }
        }
        #expect(tooHigh < 400)
    }

    @Test func `Halving halves, and counters stop at their highest value`() {
        var sketch = FrequencySketch(capacity: 64)
        for _ in 0..<1000 { _ = sketch.add(42) }
        let highest = sketch.add(42)
        #expect(highest == 255)
        sketch.halve()
        #expect(sketch.epoch == 1)
        let halved = sketch.add(42)
        #expect(halved == 128)
        sketch.reset(capacity: 1000)
        #expect(sketch.capacity == 1024)
        sketch.restore(42, count: 7)
        let restored = sketch.add(42)
        #expect(restored == 8)
    }

    @Test func `Halving is due after twenty requests per entry`() {
        var sketch = FrequencySketch(capacity: 64)
        for _ in 0..<1999 { _ = sketch.add(1) }
        let isDueEarly = sketch.isDue(count: 100)
        _ = sketch.add(1)
        let isDue = sketch.isDue(count: 100)
        #expect(!isDueEarly && isDue)
    }
}

@Suite struct HashIndexTests {
    @Test func `An entry is replaced, and only the one that is meant`() {
        var index = HashIndex<UInt32>()
        index.insert(7, 1)
        index.insert(7, 2)
        let replaced = [index.replace(7, with: 3) { $0 == 2 }, index.replace(7, with: 4) { $0 == 2 }]
        #expect(replaced == [2, nil])
        let found = [index.find(7) { $0 == 1 }, index.find(7) { $0 == 3 }, index.find(7) { $0 == 2 }]
        #expect(found == [1, 3, nil])
        #expect(index.count == 2)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `The table matches a dictionary`(seed: UInt64) {
        var index = HashIndex<UInt32>()
        var model: [UInt32: UInt64] = [:]
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let id = UInt32(1 + random.below(500))
            if let hash = model.removeValue(forKey: id) {
                let removed = index.remove(hash) { $0 == id }
                #expect(removed == id)
                let found = index.find(hash) { $0 == id }
                #expect(found == nil)
            } else {
                // Few values, so that many collide and runs wrap around the end; some differ only in the bits that are not stored.
                let hash = UInt64(bitPattern: Int64(random.below(40) - 20)) ^ UInt64(random.below(2)) << 40
                model[id] = hash
                index.insert(hash, id)
            }
            #expect(index.count == model.count)
        }
        for (id, hash) in model {
            let found = index.find(hash) { $0 == id }
            #expect(found == id)
        }
    }
}
