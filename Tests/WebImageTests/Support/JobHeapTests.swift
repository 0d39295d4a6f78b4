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
