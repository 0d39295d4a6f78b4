import ModelTestSupport
import Testing

@testable import WebImageSupport

@Suite struct SteppedQueueTests {
    @Test func `Jobs wait until they are taken, by priority`() {
        let queue = WorkQueue(stepped: "test")
        let log = Lock<[Int]>([])
        for (number, priority) in [LoadPriority.low, .normal, .high, .normal].enumerated() {
            queue.submit(priority: priority) { log.withLock { $0.append(number) } }
        }
        #expect(queue.waitingCount == 4 && log.withLock { $0 } == [])
        queue.runAll()
        #expect(log.withLock { $0 } == [2, 1, 3, 0])
        #expect(queue.waitingCount == 0 && queue.takeNext() == nil)
    }

    @Test func `A job that was taken is not cancelled any more`() {
        let queue = WorkQueue(stepped: "test")
        let (first, second) = (queue.submit {}, queue.submit {})
        _ = queue.takeNext()
        #expect(!first.takeOut() && second.takeOut())
        #expect(queue.takeNext() == nil)
    }

    @Test func `Another width starts no threads`() {
        let queue = WorkQueue(stepped: "test")
        queue.submit {}
        queue.width = 4
        #expect(queue.width == 4 && queue.waitingCount == 1)
        queue.runAll()
    }
}
