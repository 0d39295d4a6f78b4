import Testing

@testable import WebImageCache

@Suite struct EvictingTableTests {
    private final class Value: Sendable {
        let number: Int
        let deinitialized: @Sendable () -> Void

        init(_ number: Int, deinitialized: @escaping @Sendable () -> Void = {}) {
            (self.number, self.deinitialized) = (number, deinitialized)
        }

        deinit { deinitialized() }
    }

    @Test func `The total cost stays within the limit, and the last value stays`() {
        let table = EvictingTable<Value>(costLimit: 100)
        for number in 0..<50 { table.set(Value(number), cost: 10, forKey: MemoryCacheKey("\(number)")) }
        #expect(table.totalCost <= 100)
        #expect(table.count == 10)
        #expect(table.value(forKey: "49")?.number == 49)
        #expect(table.value(forKey: "none") == nil)
    }

    @Test func `A value replaces one with the same key, also when it is too large to be stored`() {
        let table = EvictingTable<Value>(costLimit: 100)
        table.set(Value(1), cost: 10, forKey: "a")
        table.set(Value(2), cost: 20, forKey: "a")
        #expect(table.value(forKey: "a")?.number == 2)
        #expect(table.totalCost == 20)
        table.set(Value(3), cost: 101, forKey: "a")
        #expect(table.value(forKey: "a") == nil)
        #expect(table.count == 0)
    }

    @Test func `Values may use the table while they are released`() {
        let table = EvictingTable<Value>(costLimit: 0, countLimit: 1)
        table.set(Value(1) { _ = table.count }, cost: 1, forKey: "a")
        table.set(Value(2) { _ = table.count }, cost: 1, forKey: "b")
        #expect(table.count == 1)
        table.remove("b")
        #expect(table.count == 0)
    }
}
