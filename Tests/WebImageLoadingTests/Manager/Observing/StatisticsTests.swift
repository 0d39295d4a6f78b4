import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct StatisticsTests {
    @Test func `Initially all counts are zero, and so are ratios without counts`() async {
        // In its own process: decodes that wait for workers are counted for all managers.
        await #expect(processExitsWith: .success) {
            let statistics = ManagerHarness.answering().manager.statistics
            #expect(statistics == WebImageStatistics())
            #expect(statistics.memory.hitRatio == 0)
        }
    }

    @Test func `Tiers count the hits and misses of loads`() async throws {
        let harness = ManagerHarness.answering("bytes")
        _ = await harness.start().outcome.value()
        for _ in 0..<3 { _ = await harness.start().outcome.value() }
        _ = try await harness.manager.image(with: harness.url, context: harness.context())
        harness.cache.edit { $0.memory = [:] }
        _ = await harness.start().outcome.value()
        _ = await harness.start(options: .fromLoaderOnly).outcome.value()
        let statistics = harness.manager.statistics
        #expect(statistics.memory == .init(hits: 4, misses: 2))
        #expect(statistics.disk == .init(hits: 1, misses: 1))
        #expect(statistics.memory.hitRatio == 4.0 / 6 && statistics.disk.hitRatio == 0.5)
        #expect(statistics.loads == 7 && statistics.delivered == 7 && statistics.runningLoads == 0)
        #expect(statistics.downloads == 2 && statistics.receivedByteCount == 10 && statistics.storedByteCount == 10)
        #expect(statistics.decodes == 3 && statistics.decodedPixelCount == 24)
    }

    @Test func `Ends are counted by kind`() async {
        // In its own process: decodes that wait for workers are counted for all managers.
        await #expect(processExitsWith: .success) {
            let harness = ManagerHarness()
            let cancelled = harness.start(URL(string: "http://host/a"))
            let failing = harness.start(URL(string: "http://host/b"))
            let joining = harness.start(URL(string: "http://host/b"))
            let loads = await harness.loader.waitForLoads(2)
            #expect(harness.manager.statistics.runningLoads == 3 && harness.manager.statistics.runningDownloads == 2)
            #expect(harness.manager.statistics.runningWorks > 0 && harness.manager.statistics.joined == 1)
            #expect(harness.manager.statistics.undecodedByteCount > 0)
            cancelled.operation.cancel()
            loads[1].answer(.failure(WebImageError(.timedOut, "too slow")))
            _ = await (failing.outcome.value(), joining.outcome.value())
            _ = await harness.start(nil, options: .fromCacheOnly).outcome.value()
            let statistics = harness.manager.statistics
            #expect(statistics.cancelled == 1 && statistics.failed == 3 && statistics.delivered == 0)
            #expect(statistics.downloadFailures == 1, "a cancelled download has not failed, and a shared one has once")
            #expect(await harness.manager.pipeline.becomesIdle())
            let idle = harness.manager.statistics
            #expect(idle.runningLoads == 0 && idle.runningWorks == 0 && idle.runningDownloads == 0)
            #expect(idle.waitingDownloads == 0 && idle.waitingDecodes == 0 && idle.undecodedByteCount == 0)
        }
    }

    @Test func `Downloads that are not admitted yet are counted as waiting`() async {
        let harness = ManagerHarness(undecodedByteLimit: 1)
        let started = (0..<5).map { harness.start(URL(string: "http://host/\($0)")) }
        _ = await harness.loader.waitForLoads(1)
        #expect(harness.manager.statistics.waitingDownloads == 4 && harness.manager.statistics.runningDownloads == 1)
        for load in started { load.operation.cancel() }
        #expect(harness.manager.statistics.waitingDownloads == 0 && harness.manager.statistics.cancelled == 5)
    }

    @Test func `A refresh counts only the lookup that found the image`() async {
        let harness = RefreshHarness("old", etag: "1")
        await harness.load()
        let before = harness.manager.statistics
        _ = await harness.start().deliveries.all(atLeast: 1)
        let statistics = harness.manager.statistics
        #expect(statistics.memory.hits == before.memory.hits + 1 && statistics.memory.misses == before.memory.misses)
        #expect(statistics.disk == before.disk)
        #expect(statistics.delivered == before.delivered + 1 && statistics.downloadFailures == 0)
    }

    @Test func `Data loads and prefetches to disk count as loads`() async throws {
        let harness = ManagerHarness.answering()
        _ = try await harness.manager.data(with: harness.url, context: harness.context())
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        _ = await prefetcher.prefetchAll([harness.url], target: .disk, context: harness.context())
        let statistics = harness.manager.statistics
        #expect(statistics.loads == 2 && statistics.delivered == 2 && statistics.runningLoads == 0)
        #expect(statistics.disk.misses == 1)
        #expect(statistics.storedByteCount == 7)
    }

    @Test func `A random run adds up`() async {
        var random = SeededGenerator(seed: 11)
        let harness = ManagerHarness { $0.lastPathComponent.hasSuffix("7") ? .failure(.notCached($0)) : .success("x") }
        var (ended, hits, delivered) = (0, 0, 0)
        for _ in 0..<500 {
            if Int.random(in: 0..<20, using: &random) == 0 { harness.cache.edit { $0.memory = [:] } }
            let url = URL(string: "http://host/\(Int.random(in: 0..<40, using: &random))")
            let result = await harness.start(url).outcome.value()
            ended += 1
            if case .success(let result) = result {
                delivered += 1
                if result.cacheType == .memory { hits += 1 }
            }
        }
        let statistics = harness.manager.statistics
        #expect(
            statistics.loads == ended && statistics.delivered == delivered && statistics.failed == ended - delivered
        )
        #expect(statistics.memory == .init(hits: hits, misses: ended - hits))
        #expect(statistics.disk.hits + statistics.disk.misses == ended - hits)
        #expect(statistics.downloads == statistics.disk.misses)
    }
}
