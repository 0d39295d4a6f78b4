import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

@Suite(.timeLimit(.minutes(5))) struct CancellationStressTests {
    @Test func `A cancel at the moment the work is begun never leaves it running`() async {
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

    @Test func `A cancel at the moment a prefetch to disk begins its download never leaves it running`() async {
        let harness = ManagerHarness()
        let current = Lock<PrefetchDataLoad?>(nil)
        let isOver = Lock(false)
        let stopped = EventCounter()
        startThread {
            while !isOver.withLock({ $0 }) { current.withLock { $0 }?.cancel() }
            stopped.signal()
        }
        let resolved = harness.manager.resolve(harness.url, [], harness.context())
        for _ in 0..<TestEffort.rounds(20_000) {
            let isEnded = Lock(false)
            let load = PrefetchDataLoad(
                manager: harness.manager,
                url: harness.url,
                options: [],
                priority: .low,
                account: LoadAccount(resolved, url: harness.url, manager: harness.manager)
            ) { _ in
                isEnded.withLock { $0 = true }
            }
            current.withLock { $0 = load }
            load.start(resolved)
            await wait(while: !isEnded.withLock({ $0 }))
        }
        isOver.withLock { $0 = true }
        await stopped.wait(for: 1)
        #expect(await harness.manager.pipeline.becomesIdle())
    }
}
