import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct WorkQueueWakeTests {
    @Test func `Two jobs submitted at once run at once, also when only one thread was asleep`() async {
        for _ in 0..<200 {
            let queue = WorkQueue(name: "test", width: 2)
            let warm = Latch()
            queue.submit { warm.open() }
            #expect(await warm.opens())
            // The thread of the first job may be asleep again now, or still on its way there.
            for _ in 0..<100 where queue.waitingCount > 0 { sched_yield() }
            let (first, second) = (Latch(), Latch())
            queue.submit { _ = first.wait(seconds: 20) }
            queue.submit {
                first.open()
                second.open()
            }
            guard await second.opens(seconds: 5) else {
                first.open()
                #expect(Bool(false), "the second job waits for the first")
                return
            }
        }
    }

    @Test func `No more threads run than the queue is wide`() async {
        let queue = WorkQueue(name: "test", width: 3)
        let running = Lock((now: 0, most: 0, left: 300))
        let done = Latch()
        for _ in 0..<300 {
            queue.submit {
                running.withLock { state in
                    state.now += 1
                    state.most = max(state.most, state.now)
                }
                sched_yield()
                let isLast = running.withLock { state in
                    state.now -= 1
                    state.left -= 1
                    return state.left == 0
                }
                if isLast { done.open() }
            }
        }
        #expect(await done.opens())
        #expect(running.withLock { $0.most } <= 3)
    }
}
