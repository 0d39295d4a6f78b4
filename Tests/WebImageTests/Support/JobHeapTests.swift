import TestSupport
import Testing

@testable import WebImage

@Suite struct JobHeapTests {
    @Test func `Jobs of a higher priority come first, equal ones in the order they came`() {
        var heap = JobHeap<@Sendable () -> Void>()
        let log = Lock<[Int]>([])
        for (number, priority) in [(1, LoadPriority.low), (2, .high), (3, .normal), (4, .high)] {
            _ = heap.insert({ log.withLock { $0.append(number) } }, priority: priority)
        }
        while let body = heap.popFirst() { body() }
        #expect(log.withLock { $0 } == [2, 4, 3, 1])
    }
}

@Suite struct FIFOListTests {
    @Test(arguments: 0..<20)
    func `Under random calls it holds what an array would`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = FIFOList<Int>()
        var model: [Int] = []
        for step in 0..<2000 {
            switch Int.random(in: 0..<8, using: &random) {
            // Rises and falls, so that the taken head is dropped in both ways.
            case 0..<(step / 500 % 2 == 0 ? 5 : 3):
                list.append(step)
                model.append(step)
            case 5:
                let (last, expected) = (list.popLast(), model.popLast())
                #expect(last == expected)
            case 6 where step % 50 == 0:
                list = list.filter { $0 % 3 != 0 }
                model = model.filter { $0 % 3 != 0 }
            default:
                let (first, expected) = (list.popFirst(), model.isEmpty ? nil : model.removeFirst())
                #expect(first == expected)
            }
            #expect(list.count == model.count && list.first == model.first)
        }
    }
}
