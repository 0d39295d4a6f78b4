import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite(.timeLimit(.minutes(1))) struct PrefetchDefaultsTests {
    @Test func `The defaults of a prefetcher are the documented ones`() {
        let prefetcher = WebImagePrefetcher()
        #expect(prefetcher.maxConcurrentPrefetchCount == 3 && prefetcher.options == .lowPriority)
        #expect(prefetcher.context == nil && prefetcher.delegate == nil && !prefetcher.isSuspended)
        #expect(prefetcher.callbackQueue.policy == CallbackQueue.main.policy)
        #expect(prefetcher.runningCount == 0 && prefetcher.waitingCount == 0)
        prefetcher.maxConcurrentPrefetchCount = 0
        prefetcher.isSuspended = true
        #expect(prefetcher.isSuspended)
    }

    @Test func `The prefetcher's options and context apply to lists without their own`() async {
        let harness = ManagerHarness()
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.options = [.handleCookies, .highPriority]
        prefetcher.context = harness.context { $0.additionalHeaders["X-From"] = "prefetcher" }
        let token = prefetcher.prefetch([harness.url])
        let first = await harness.loader.waitForLoads(1)[0]
        #expect(first.request.options == .handleCookies && first.request.priority == .high)
        #expect(first.request.additionalHeaders["X-From"] == "prefetcher")
        token.cancel()
        prefetcher.prefetch(
            [harness.url],
            options: [],
            context: harness.context { $0.additionalHeaders["X-From"] = "list" }
        )
        let second = await harness.loader.waitForLoads(2)[1]
        #expect(second.request.options == [] && second.request.priority == .normal)
        #expect(second.request.additionalHeaders["X-From"] == "list")
        prefetcher.cancelPrefetching()
    }

    @Test func `Cancelling all ends every list once`() async {
        let harness = ManagerHarness()
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = harness.context()
        let ends = Lock<[PrefetchProgress]>([])
        for list in [[harness.url], [harness.url, URL(string: "http://host/b.png")!]] {
            prefetcher.prefetch(list) { end in ends.withLock { $0.append(end) } }
        }
        let loads = await harness.loader.waitForLoads(2)
        prefetcher.cancelPrefetching()
        prefetcher.cancelPrefetching()
        #expect(ends.withLock { $0.map(\.totalCount).sorted() } == [1, 2])
        #expect(ends.withLock { $0.allSatisfy(\.isCancelled) })
        #expect(prefetcher.runningCount == 0 && prefetcher.waitingCount == 0)
        // A list that is just being started sees the cancellation when that is done.
        #expect(await becomes { loads.allSatisfy(\.isCancelled) })
    }

    @Test(arguments: ["new", "old"])
    func `A refreshed image counts once`(text: String) async {
        let harness = RefreshHarness("old", etag: "\"1\"")
        await harness.load()
        harness.server.publish(text, etag: "\"2\"")
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let readings = Lock<[PrefetchProgress]>([])
        let ends = EventCounter()
        var context = harness.context()
        context.callbackQueue = .inline
        prefetcher.prefetch(
            [harness.url],
            options: .refreshCached,
            context: context,
            progress: { reading in readings.withLock { $0.append(reading) } },
            completion: { end in
                #expect(end == PrefetchProgress(finishedCount: 1, totalCount: 1))
                ends.signal()
            }
        )
        await ends.wait(for: 1)
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(readings.withLock { $0.count } == 1 && ends.count == 1)
        #expect(harness.disk[harness.key]?.data == Data(text.utf8))
    }
}
