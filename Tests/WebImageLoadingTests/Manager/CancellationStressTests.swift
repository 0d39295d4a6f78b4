import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct CancellationStressTests {
    @Test func `Cancelling while the work starts never leaves it running`() async {
        let harness = ManagerHarness()
        let manager = harness.manager
        let isOver = Lock(false)
        let stopped = EventCounter()
        startThread {
            while !isOver.withLock({ $0 }) { manager.cancelAll() }
            stopped.signal()
        }
        for number in 0..<TestEffort.rounds(20_000) { _ = harness.start(URL(string: "http://host/\(number)")) }
        isOver.withLock { $0 = true }
        await stopped.wait(for: 1)
        manager.cancelAll()
        #expect(manager.pipeline.runningCount == 0 && manager.pipeline.waitingCount == 0)
        let running = harness.loader.loads.filter { !$0.isCancelled }
        #expect(running.isEmpty)
    }

    @Test func `Cancelling while a prefetch to disk starts its download never leaves it running`() async {
        let harness = ManagerHarness()
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let isOver = Lock(false)
        let stopped = EventCounter()
        startThread {
            while !isOver.withLock({ $0 }) { harness.manager.cancelAll() }
            stopped.signal()
        }
        for _ in 0..<TestEffort.rounds(20_000) {
            let end = await prefetcher.prefetchAll([harness.url], target: .disk, context: harness.context())
            #expect(end.skippedCount == 1)
        }
        isOver.withLock { $0 = true }
        await stopped.wait(for: 1)
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(harness.manager.runningCount == 0 && harness.loader.loads.allSatisfy(\.isCancelled))
    }
}
