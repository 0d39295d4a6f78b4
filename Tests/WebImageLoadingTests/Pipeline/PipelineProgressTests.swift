import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

@Suite struct PipelineProgressTests {
    @Test func `A listener that joins an unobserved load gets its progress at once`() async throws {
        let harness = ManagerHarness()
        let silent = harness.start()
        let load = try #require(await harness.loader.waitForLoads(1).first)
        load.report(10, of: 100)
        load.report(40, of: 100)
        let heard = Monitor<[Int64]>([])
        let listening = harness.start(progress: { progress in heard.withLock { $0.append(progress.receivedByteCount) } }
        )
        #expect(await heard.value { $0.isEmpty ? nil : $0 } == [40])
        load.report(70, of: 100)
        #expect(await heard.value { $0.count > 1 ? $0 : nil } == [40, 70])
        load.succeed()
        _ = await (silent.outcome.value(), listening.outcome.value())
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `When the last listener has left, the next one still gets the latest progress`() async throws {
        let harness = ManagerHarness()
        let silent = harness.start()
        let load = try #require(await harness.loader.waitForLoads(1).first)
        let first = Monitor<[Int64]>([])
        let listening = harness.start(progress: { progress in first.withLock { $0.append(progress.receivedByteCount) } }
        )
        load.report(10, of: 100)
        _ = await first.value { $0.isEmpty ? nil : $0 }
        listening.operation.cancel()
        load.report(20, of: 100)
        load.report(30, of: 100)
        let second = Monitor<[Int64]>([])
        let late = harness.start(progress: { progress in second.withLock { $0.append(progress.receivedByteCount) } })
        #expect(await second.value { $0.isEmpty ? nil : $0 } == [30])
        load.succeed()
        _ = await (silent.outcome.value(), late.outcome.value())
        #expect(first.withLock { $0 } == [10])
        #expect(second.withLock { $0 } == [30])
    }

    @Test func `An ended load leaves no progress behind`() async throws {
        let harness = ManagerHarness()
        let silent = harness.start()
        let load = try #require(await harness.loader.waitForLoads(1).first)
        load.report(10, of: 100)
        load.answer(.failure(WebImageError(.networkConnectionLost, "gone")))
        _ = await silent.outcome.value()
        load.report(90, of: 100)
        let heard = Monitor<[Int64]>([])
        let next = harness.start(progress: { progress in heard.withLock { $0.append(progress.receivedByteCount) } })
        let second = try #require(await harness.loader.waitForLoads(2).last)
        second.succeed()
        _ = await next.outcome.value()
        #expect(heard.withLock { $0 } == [], "the end follows all readings")
    }
}
