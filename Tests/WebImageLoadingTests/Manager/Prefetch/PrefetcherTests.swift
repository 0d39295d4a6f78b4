import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct PrefetcherTests {
    private let harness = ManagerHarness()

    private func urls(_ count: Int, _ name: String = "p") -> [URL] {
        (0..<count).map { URL(string: "http://host/\(name)\($0).png")! }
    }

    /// A prefetcher on the harness that calls back on whichever thread ends a load.
    private func prefetcher(_ harness: ManagerHarness? = nil) -> WebImagePrefetcher {
        let prefetcher = WebImagePrefetcher(manager: (harness ?? self.harness).manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = (harness ?? self.harness).context()
        return prefetcher
    }

    @Test func `Images are cached afterwards, and failed ones count as skipped`() async {
        let harness = ManagerHarness { $0.lastPathComponent == "p1.png" ? .success("bad") : .success("picture") }
        let list = urls(3)
        let progress = await prefetcher(harness).prefetchAll(list)
        #expect(progress == PrefetchProgress(finishedCount: 3, skippedCount: 1, totalCount: 3))
        let there = Set([list[0], list[2]].map(\.absoluteString))
        #expect(harness.cache.memoryKeys == there && harness.cache.diskKeys == there)
    }

    @Test func `An empty list completes before the call returns`() {
        let told = Lock<PrefetchProgress?>(nil)
        let token = WebImagePrefetcher(manager: harness.manager).prefetch([]) { end in told.withLock { $0 = end } }
        #expect(told.withLock { $0 } == PrefetchProgress(totalCount: 0))
        #expect(token.urls.isEmpty && !token.isCancelled)
    }

    @Test func `The concurrency limit holds over all lists, also when changed`() async {
        let prefetcher = prefetcher()
        #expect(prefetcher.maxConcurrentPrefetchCount == 3)
        prefetcher.prefetch(urls(4, "a"))
        prefetcher.prefetch(urls(4, "b"))
        _ = await harness.loader.waitForLoads(3)
        #expect(prefetcher.runningCount == 3 && prefetcher.waitingCount == 5)
        prefetcher.maxConcurrentPrefetchCount = 5
        _ = await harness.loader.waitForLoads(5)
        #expect(prefetcher.runningCount == 5)
        prefetcher.cancelPrefetching()
    }

    @Test func `Loads have low priority unless the list says otherwise`() async {
        let prefetcher = prefetcher()
        prefetcher.prefetch(urls(1, "a"))
        prefetcher.prefetch(urls(1, "b"), priority: .high)
        prefetcher.prefetch(urls(1, "c"), options: [])
        let loads = await harness.loader.waitForLoads(3)
        let priorities = Dictionary(uniqueKeysWithValues: loads.map { ($0.request.url.lastPathComponent, $0.priority) })
        #expect(priorities == ["a0.png": .low, "b0.png": .high, "c0.png": .normal])
        prefetcher.cancelPrefetching()
    }

    @Test func `A URL listed twice counts twice and is loaded once`() async {
        let prefetcher = prefetcher()
        let end = EventCounter()
        let token = prefetcher.prefetch([harness.url, harness.url]) { _ in end.signal() }
        let load = await harness.loader.waitForLoads(1)[0]
        await wait(while: prefetcher.runningCount < 2)
        load.succeed()
        await end.wait(for: 1)
        #expect(harness.loader.loads.count == 1)
        #expect(token.progress == PrefetchProgress(finishedCount: 2, totalCount: 2))
    }

    @Test func `Cached images count as finished`() async {
        let harness = ManagerHarness.answering()
        let prefetcher = prefetcher(harness)
        _ = await prefetcher.prefetchAll(urls(10))
        let again = await prefetcher.prefetchAll(urls(10))
        #expect(again == PrefetchProgress(finishedCount: 10, totalCount: 10))
        #expect(harness.loader.loads.count == 10)
    }

    @Test func `Twenty thousand cached images do not recurse`() async {
        let harness = ManagerHarness.answering()
        let prefetcher = prefetcher(harness)
        _ = await prefetcher.prefetchAll([harness.url])
        let all = await prefetcher.prefetchAll(Array(repeating: harness.url, count: TestEffort.rounds(20_000)))
        #expect(all.isComplete && all.skippedCount == 0)
    }

    @Test func `Cancelling a list reaches waiting and running loads, and completes once`() async {
        let prefetcher = prefetcher()
        let ends = Lock<[PrefetchProgress]>([])
        let token = prefetcher.prefetch(urls(5)) { end in ends.withLock { $0.append(end) } }
        let loads = await harness.loader.waitForLoads(3)
        token.cancel()
        token.cancel()
        for load in loads { #expect(await load.becomesCancelled()) }
        #expect(ends.withLock { $0 } == [PrefetchProgress(totalCount: 5, isCancelled: true)])
        #expect(token.isCancelled && prefetcher.runningCount == 0 && prefetcher.waitingCount == 0)
        #expect(harness.loader.loads.count == 3)
    }

    @Test func `Cancelling all downloads skips the running ones, and the list continues`() async throws {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(config: WebImageDownloaderConfig(), transport: transport)
        let prefetcher = WebImagePrefetcher(manager: WebImageManager(cache: harness.cache, loader: downloader))
        prefetcher.callbackQueue = .inline
        prefetcher.context = harness.context()
        let ends = Lock<[PrefetchProgress]>([])
        let list = urls(5)
        prefetcher.prefetch(list) { end in ends.withLock { $0.append(end) } }
        await wait(while: transport.transfers.count < 3)
        let running = Set(transport.transfers.map(\.request.url))
        downloader.cancelAllDownloads()
        await wait(while: transport.transfers.count < 5)
        #expect(transport.transfers.map(\.isCancelled) == [true, true, true, false, false])
        for transfer in transport.transfers(from: 3) { transfer.complete(Array("picture".utf8)) }
        await wait(while: ends.withLock { $0.isEmpty })
        #expect(ends.withLock { $0 } == [PrefetchProgress(finishedCount: 5, skippedCount: 3, totalCount: 5)])
        #expect(prefetcher.runningCount == 0 && downloader.currentDownloadCount == 0)
        #expect(harness.cache.diskKeys == Set(list.filter { !running.contains($0) }.map(\.absoluteString)))
        // A cancellation is not a failure of the URL.
        prefetcher.prefetch(Array(running))
        await wait(while: transport.transfers.count < 8)
        downloader.cancelAllDownloads()
    }

    @Test func `Lists are independent of each other`() async {
        let prefetcher = prefetcher()
        let end = EventCounter()
        let first = prefetcher.prefetch(urls(1, "a"))
        let second = prefetcher.prefetch(urls(1, "b")) { _ in end.signal() }
        let loads = await harness.loader.waitForLoads(2)
        first.cancel()
        loads.first { $0.request.url.lastPathComponent == "b0.png" }?.succeed()
        await end.wait(for: 1)
        #expect(second.progress == PrefetchProgress(finishedCount: 1, totalCount: 1) && !second.isCancelled)
    }

    @Test func `Cancelling the task cancels the list`() async {
        let prefetcher = prefetcher()
        let list = urls(2)
        let task = Task { await prefetcher.prefetchAll(list) }
        _ = await harness.loader.waitForLoads(2)
        task.cancel()
        #expect(await task.value.isCancelled)
        let never = Task { await prefetcher.prefetchAll(list) }
        never.cancel()
        #expect(await never.value.isCancelled)
    }

    @Test func `A higher priority reaches waiting and running loads`() async {
        let prefetcher = prefetcher()
        prefetcher.maxConcurrentPrefetchCount = 1
        let first = prefetcher.prefetch(urls(1, "a"))
        _ = await harness.loader.waitForLoads(1)
        prefetcher.prefetch(urls(1, "b"))
        let urgent = prefetcher.prefetch(urls(1, "c"))
        urgent.setPriority(.high)
        first.setPriority(.normal)
        let load = harness.loader.loads[0]
        #expect(await load.becomes(.normal))
        load.succeed()
        let next = await harness.loader.waitForLoads(2)[1]
        #expect(next.request.url.lastPathComponent == "c0.png" && next.priority == .high)
        prefetcher.cancelPrefetching()
    }

    @Test func `A view's load joins the prefetch and makes it urgent`() async throws {
        let prefetcher = prefetcher()
        prefetcher.prefetch([harness.url])
        let load = await harness.loader.waitForLoads(1)[0]
        let view = harness.start(options: .highPriority)
        #expect(await load.becomes(.high))
        load.succeed()
        _ = try await view.outcome.image()
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `Nothing starts while the prefetcher is suspended`() async {
        let harness = ManagerHarness.answering()
        let prefetcher = prefetcher(harness)
        prefetcher.isSuspended = true
        let end = EventCounter()
        prefetcher.prefetch(urls(2)) { _ in end.signal() }
        #expect(prefetcher.waitingCount == 2 && harness.loader.loads.isEmpty)
        prefetcher.isSuspended = false
        await end.wait(for: 1)
        #expect(harness.loader.loads.count == 2)
    }

    @Test func `Running lists continue when the prefetcher is released`() async {
        let harness = ManagerHarness()
        let end = EventCounter()
        var prefetcher: WebImagePrefetcher? = prefetcher(harness)
        weak let gone = prefetcher
        prefetcher?.maxConcurrentPrefetchCount = 1
        prefetcher?.prefetch(urls(2)) { _ in end.signal() }
        prefetcher = nil
        await harness.loader.waitForLoads(1)[0].succeed()
        await harness.loader.waitForLoads(2)[1].succeed()
        await end.wait(for: 1)
        #expect(end.count == 1)
        // The thread that ended it may still be returning from the call.
        await wait(while: gone != nil)
    }

    @Test(arguments: [false, true])
    func `A suspended prefetcher is released with its last owner, and its lists end as cancelled`(isBegun: Bool) async {
        let harness = ManagerHarness()
        let ends = Monitor<[PrefetchProgress]>([])
        var prefetcher: WebImagePrefetcher? = prefetcher(harness)
        weak let gone = prefetcher
        prefetcher?.maxConcurrentPrefetchCount = 1
        prefetcher?.isSuspended = !isBegun
        let token = prefetcher?.prefetch(urls(2)) { end in ends.withLock { $0.append(end) } }
        if isBegun {
            _ = await harness.loader.waitForLoads(1)
            prefetcher?.isSuspended = true
        }
        prefetcher = nil
        // A running load keeps it until it has ended.
        if isBegun { harness.loader.loads[0].succeed() }
        let finished = isBegun ? 1 : 0
        let end = PrefetchProgress(finishedCount: finished, totalCount: 2, isCancelled: true)
        #expect(await ends.value { $0.first } == end)
        await wait(while: gone != nil)
        token?.cancel()
        token?.setPriority(.high)
        #expect(token?.progress == end && ends.withLock { $0.count } == 1 && harness.loader.loads.count == finished)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func `A retained token retains none of the callbacks after the end`(isCancelled: Bool) async {
        let prefetcher = prefetcher()
        var receiver: EventCounter? = EventCounter()
        weak let kept = receiver
        let end = EventCounter()
        let token = { [receiver] in
            prefetcher.prefetch(urls(1)) { _ in
                receiver?.signal()
            } completion: { _ in
                receiver?.signal()
                end.signal()
            }
        }()
        receiver = nil
        let load = await harness.loader.waitForLoads(1)[0]
        #expect(kept != nil)
        if isCancelled { token.cancel() } else { load.succeed() }
        await end.wait(for: 1)
        // The thread that ended it may still be returning from the call.
        await wait(while: kept != nil)
        #expect(token.isCancelled == isCancelled && token.progress.totalCount == 1)
    }

    @Test func `A custom prefetcher shares the cache, but not the failed URLs`() {
        let prefetcher = WebImagePrefetcher()
        #expect(prefetcher.manager !== WebImageManager.shared)
        #expect(prefetcher.manager.imageCache === WebImageManager.shared.imageCache)
        #expect(prefetcher.manager.pipeline === WebImageManager.shared.pipeline)
        #expect(WebImagePrefetcher.shared === WebImagePrefetcher.shared)
    }
}
