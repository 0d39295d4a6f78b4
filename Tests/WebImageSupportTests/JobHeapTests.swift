import TestSupport
import Testing

@testable import WebImageSupport

@Suite struct JobHeapTests {
    @Test func `Jobs of a higher priority come first, equal ones in order of arrival`() {
        var heap = JobHeap<@Sendable () -> Void>()
        let log = Lock<[Int]>([])
        for (number, priority) in [(1, LoadPriority.low), (2, .high), (3, .normal), (4, .high)] {
            _ = heap.insert({ log.withLock { $0.append(number) } }, priority: priority)
        }
        while let body = heap.popFirst() { body() }
        #expect(log.withLock { $0 } == [2, 4, 3, 1])
    }

    @Test func `A random history matches a plain list`() {
        var random = SeededGenerator(seed: 5)
        for order in [WorkQueue.Order.fifo, .lifo] {
            var heap = JobHeap<Int>()
            heap.order = order
            // The model: waiting jobs in the order of their tickets.
            var waiting: [(id: UInt64, body: Int, priority: LoadPriority)] = []
            for number in 0..<2000 {
                let priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
                waiting.append((heap.insert(number, priority: priority), number, priority))
                if Bool.random(using: &random), let victim = waiting.indices.randomElement(using: &random) {
                    let job = waiting.remove(at: victim)
                    #expect(heap.remove(job.id) == job.body)
                    #expect(heap.remove(job.id) == nil && heap.priority(of: job.id) == nil)
                }
                if let moved = waiting.indices.randomElement(using: &random) {
                    let to = LoadPriority.allCases.randomElement(using: &random) ?? .normal
                    heap.setPriority(to, of: waiting[moved].id)
                    if waiting[moved].priority != to {
                        let job = waiting.remove(at: moved)
                        waiting.append((job.id, job.body, to))
                    }
                    #expect(heap.priority(of: waiting[waiting.endIndex - 1].id) == waiting.last?.priority)
                }
                for _ in 0..<Int.random(in: 0..<3, using: &random) {
                    let best = waiting.map(\.priority).max()
                    let candidates = waiting.filter { $0.priority == best }
                    let next = order == .lifo ? candidates.last : candidates.first
                    let first = heap.first
                    #expect(first?.body == next?.body && first?.priority == next?.priority)
                    #expect(heap.popFirst() == next?.body)
                    waiting.removeAll { $0.id == next?.id }
                }
                #expect(heap.count == waiting.count)
            }
        }
    }

    @Test func `The order can change while jobs wait`() {
        var heap = JobHeap<Int>()
        for number in 1...5 { _ = heap.insert(number, priority: .normal) }
        #expect(heap.popFirst() == 1)
        heap.order = .lifo
        #expect(heap.popFirst() == 5)
        heap.order = .fifo
        #expect(heap.popFirst() == 2)
    }
}

@Suite struct FIFOListTests {
    @Test(arguments: 0..<20)
    func `Under random calls the heap matches an array`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = FIFOList<Int>()
        var model: [Int] = []
        for step in 0..<2000 {
            switch Int.random(in: 0..<8, using: &random) {
            // Rises and falls, so that the removed head is dropped in both ways.
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
