import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct WorkQueueTests {
    @Test func `A burst of jobs gets as many threads as the queue is wide, also when one sleeps`() async {
        for _ in 0..<50 {
            let queue = WorkQueue(name: "test", width: 2)
            let ended = Latch()
            queue.submit { ended.open() }
            #expect(await ended.opens())
            // Each waits for the other: one thread would never end.
            let first = Latch()
            let second = Latch()
            let both = Monitor(0)
            queue.submit {
                first.open()
                if second.wait(seconds: 10) { both.withLock { $0 += 1 } }
            }
            queue.submit {
                second.open()
                if first.wait(seconds: 10) { both.withLock { $0 += 1 } }
            }
            #expect(await both.value(seconds: 20, until: { $0 == 2 ? true : nil }) == true)
        }
    }

    @Test func `Waiting jobs run by priority, a changed priority counts, and a cancelled job never runs`() async {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Gate()
        let log = Monitor<[Int]>([])
        queue.submit { gate.wait() }
        #expect(await gate.arrivals())
        let items = [(1, LoadPriority.low), (2, .normal), (3, .normal), (4, .high), (5, .low)].map { number, priority in
            queue.submit(priority: priority) { log.withLock { $0.append(number) } }
        }
        items[4].setPriority(.high)
        #expect(items[1].takeOut())
        #expect(!items[1].takeOut())
        gate.open()
        _ = await log.value { $0.count == 4 ? true : nil }
        #expect(log.withLock { $0 } == [4, 5, 3, 1])
    }

    @Test func `A wider queue starts threads for waiting jobs; a narrower one keeps working`() async {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Gate()
        for _ in 0..<3 { queue.submit { gate.wait() } }
        #expect(await gate.arrivals(1))
        queue.width = 3
        #expect(await gate.arrivals(3))
        queue.width = 0
        #expect(queue.width == 1)
        gate.open()
        let done = Monitor(0)
        for _ in 0..<10 { queue.submit { done.withLock { $0 += 1 } } }
        #expect(await done.value(until: { $0 == 10 ? true : nil }) == true)
    }

    @Test func `Jobs of a released queue are still done`() async {
        let done = Monitor(0)
        do {
            let queue = WorkQueue(name: "test", width: 1)
            for _ in 0..<20 { queue.submit { done.withLock { $0 += 1 } } }
        }
        #expect(await done.value(until: { $0 == 20 ? true : nil }) == true)
    }

    @Test func `Cancelled and moved jobs leave nothing behind`() {
        var heap = JobHeap<@Sendable () -> Void>()
        let kept = heap.insert({}, priority: .low)
        for _ in 0..<100_000 {
            let id = heap.insert({}, priority: .low)
            heap.setPriority(.normal, of: id)
            _ = heap.remove(id)
        }
        #expect(heap.entryCount < 200)
        #expect(heap.remove(kept) != nil && heap.count == 0)
    }
}
