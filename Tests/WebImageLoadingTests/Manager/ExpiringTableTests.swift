import FoundationEssentials
import TestSupport
import Testing

@testable import WebImageLoading

@Suite struct ExpiringTableTests {
    private let urls = (0..<1_000).map { URL(string: "http://host/\($0)")! }

    @Test func `The number of values is bounded, and the oldest are removed first`() {
        var table = ExpiringTable<URL, Void>(limit: 3)
        func held() -> [URL] { urls.filter { table.value(of: $0, at: 0) != nil } }
        for url in urls[..<10] { table.insert(url, (), at: 0, for: 1) }
        table.insert(urls[9], (), at: 0, for: 1)
        #expect(table.count == 3)
        #expect(held() == Array(urls[7..<10]))
        table.remove(urls[8])
        table.insert(urls[0], (), at: 0, for: 1)
        #expect(held() == [urls[0], urls[7], urls[9]] && table.count == 3)
    }

    @Test func `A value is valid until its time ends, and not before it was inserted`() {
        var table = ExpiringTable<Int, String>(limit: 10)
        table.insert(1, "one", at: 100, for: 10)
        #expect(table.value(of: 1, at: 100) == "one" && table.value(of: 1, at: 109.9) == "one")
        #expect(
            table.value(of: 1, at: 110) == nil && table.value(of: 1, at: 50) == nil
                && table.value(of: 2, at: 105) == nil
        )
        table.insert(1, "two", at: 200, for: .infinity)
        #expect(table.value(of: 1, at: 150) == nil && table.value(of: 1, at: 1e300) == "two" && table.count == 1)
    }

    @Test(arguments: [0, -1, Double.nan])
    func `A value without a lifetime is not inserted`(_ time: Double) {
        var table = ExpiringTable<Int, Void>(limit: 10)
        table.insert(1, (), at: 0, for: time)
        #expect(table.count == 0)
    }

    @Test func `Keys are removed by a predicate`() {
        var table = ExpiringTable<Int, Void>(limit: 10)
        for key in 0..<10 { table.insert(key, (), at: 0, for: 1) }
        table.removeAll { $0.isMultiple(of: 2) }
        #expect((0..<10).filter { table.value(of: $0, at: 0) != nil } == [1, 3, 5, 7, 9] && table.count == 5)
    }

    @Test func `Removed values do not take up space for long, however often keys change`() {
        var table = ExpiringTable<URL, Void>(limit: 100)
        for round in 0..<20 {
            for url in urls {
                table.insert(url, (), at: 0, for: 1)
                if round.isMultiple(of: 2) { table.remove(url) }
            }
            #expect(table.placeCount <= 201)
        }
        #expect(table.count == 100)
    }

    @Test func `With random insertions, removals and passing time, the table equals a simple one`() {
        var random = SeededGenerator(seed: 7)
        var table = ExpiringTable<URL, Void>(limit: 20)
        // The URLs in order of insertion, and their ends.
        var model: [(url: URL, end: Double)] = []
        var now = 0.0
        let urls = urls[..<40]
        for step in 0..<20_000 {
            let url = urls.randomElement(using: &random)!
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let time = [.infinity, 5, 5, 5].randomElement(using: &random)!
                table.insert(url, (), at: now, for: time)
                model.removeAll { $0.url == url }
                model.append((url, now + time))
                while model.first.map({ $0.end <= now }) ?? false { model.removeFirst() }
                if model.count > 20 { model.removeFirst() }
            case 6..<8:
                table.remove(url)
                model.removeAll { $0.url == url }
            case 8: now += 1
            default:
                if step.isMultiple(of: 1_000) {
                    table.removeAll { _ in true }
                    model = []
                }
            }
            let held = Set(model.filter { $0.end > now }.map(\.url))
            #expect(Set(urls.filter { table.value(of: $0, at: now) != nil }) == held)
            #expect(table.count <= 20)
        }
    }

    @Test func `Ten thousand keys are removed quickly`() {
        var table = ExpiringTable<Int, Void>(limit: 10_000)
        for key in 0..<10_000 { table.insert(key, (), at: 0, for: 1) }
        let start = ContinuousClock.now
        for key in (0..<10_000).reversed() { table.remove(key) }
        #expect(table.count == 0)
        #expect(ContinuousClock.now - start < .seconds(2), "a search for each would take minutes in debug")
    }
}
