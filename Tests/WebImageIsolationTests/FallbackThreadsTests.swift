import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageIsolation
@testable import WebImageSupport

/// Queues in a process with a limited number of threads, or none.
@Suite(.timeLimit(.minutes(2)))
struct FallbackThreadsTests {
    private let delays = ManualClock()
    /// The number of additional threads.
    private let left = Monitor(0)

    private var threads: WorkThreads {
        let left = left
        let source = ThreadSource { body in
            let isLeft = left.withLock { left -> Bool in
                defer { left = max(left - 1, 0) }
                return left > 0
            }
            return isLeft && ThreadSource.system.start(body)
        }
        return WorkThreads(source: source, fallback: FallbackThreads(source), delay: delays.delays)
    }

    @Test func `With one thread for the whole process the jobs of all queues are done, in their order`() async {
        left.withLock { $0 = 1 }
        let threads = threads
        let queues = (0..<3).map { WorkQueue(name: "test-\($0)", width: 2, threads: threads) }
        let log = Monitor<[[Int]]>([[], [], []])
        for number in 0..<20 {
            for (index, queue) in queues.enumerated() {
                queue.submit { log.withLock { $0[index].append(number) } }
            }
        }
        let isDone = await log.value(seconds: 60) { $0.allSatisfy { $0.count == 20 } ? true : nil }
        #expect(isDone == true)
        #expect(log.withLock { $0 } == Array(repeating: Array(0..<20), count: 3))
        #expect(delays.asked.isEmpty)
    }

    @Test func `A helping caller counts as a thread: a queue of one never runs two jobs at once`() async {
        left.withLock { $0 = 1 }
        let queue = WorkQueue(name: "test", width: 1, threads: threads)
        let gate = Gate()
        let running = Monitor((now: 0, most: 0, all: 0))
        let job: @Sendable () -> Void = {
            running.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
            gate.wait()
            running.withLock { ($0.now, $0.all) = ($0.now - 1, $0.all + 1) }
        }
        queue.submit(job)
        #expect(await gate.arrivals())
        // Threads are available again.
        left.withLock { $0 = 10 }
        for _ in 0..<5 { queue.submit(job) }
        gate.open()
        #expect(await running.value(seconds: 60) { $0.all == 6 ? true : nil } == true)
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func `Without any thread a queue tries again after a while, and with the next job`() async {
        let queue = WorkQueue(name: "test", width: 1, threads: threads)
        let done = Monitor(0)
        for _ in 0..<3 { queue.submit { done.withLock { $0 += 1 } } }
        #expect(delays.asked.count == 1 && queue.waitingCount == 3)
        delays.advance(1)
        #expect(delays.asked.count == 2 && queue.waitingCount == 3)
        left.withLock { $0 = 1 }
        delays.advance(1)
        #expect(await done.value(seconds: 60) { $0 == 3 ? true : nil } == true)
    }

    @Test func `A worker without a thread to start it is an error, and is not waited for`() async {
        let queue = WorkQueue(name: "test", width: 1, threads: threads)
        let error = await valueOnThread { () -> WebImageError? in
            do throws(WebImageError) {
                let program = WorkerProgram(path: "/bin/true")
                _ = try WorkerProcess(program, .sealed, memory: 1 << 30, starter: queue, patience: 0.01)
                return nil
            } catch {
                return error
            }
        }
        #expect(error?.code == .decoderUnavailable && queue.waitingCount == 0, "\(error as Any)")
    }
}
