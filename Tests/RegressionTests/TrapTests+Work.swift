import CacheTestSupport
import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

extension TrapTests {
    private enum Step: CaseIterable { case waitsForDisk, isRead, waitsForDecoder, isDecoded }

    @Test func `Trap 2: a load cancelled at each step does nothing further`() async throws {
        for step in Step.allCases { try await cancel(at: step) }
    }

    private func cancel(at step: Step) async throws {
        let (disk, coder, loader, outcome) = (FakeDisk(), FakeCoder(), FakeLoader(), Outcome())
        let cache = disk.cache { $0.maxConcurrentDiskOperations = 1 }
        let decodeQueue = WorkQueue(name: "decode", width: 1)
        let manager = WebImageManager(cache: cache, loader: loader, pipeline: Pipeline(decodeQueue: decodeQueue))
        let url = testURL("/a")
        disk.content.withLock { $0.entries[url.absoluteString] = CachedImageData(data: FakeCoder.data()) }
        let (gate, latch) = (Gate(), Latch())
        if step == .waitsForDisk { cache.diskQueue.submit { gate.wait() } }
        if step == .isRead { disk.holdReads(gate) }
        if step == .waitsForDecoder { decodeQueue.submit { gate.wait() } }
        if step == .isDecoded { coder.hold(latch) }
        if step != .isRead, step != .isDecoded { #expect(await gate.arrivals()) }
        let context = WebImageContext.with {
            $0.imageCoder = coder
            $0.callbackQueue = .inline
        }
        let load = manager.loadImage(with: url, context: context) { outcome.record($0) }
        switch step {
        case .waitsForDisk: #expect(cache.diskQueue.waitingCount == 1)
        case .isRead: #expect(await gate.arrivals())
        case .waitsForDecoder: #expect(await becomes { decodeQueue.waitingCount == 1 })
        case .isDecoded: #expect(await becomes { coder.decodeCount == 1 })
        }
        load.cancel()
        #expect(outcome.count == 1)
        gate.open()
        latch.open()
        // Later work is done on these threads, one after the other.
        try await cache.diskQueue.run { () throws(WebImageError) in }
        try await decodeQueue.run { () throws(WebImageError) in }
        #expect(await manager.pipeline.becomesIdle())
        #expect(await outcome.error()?.code == .cancelled && outcome.count == 1)
        #expect(disk.readCount == (step == .waitsForDisk ? 0 : 1), "\(step)")
        #expect(coder.decodeCount == (step == .isDecoded ? 1 : 0), "\(step)")
        #expect(cache.memoryImage(forKey: url.absoluteString) == nil && loader.loads.isEmpty, "\(step)")
    }

    @Test func `Trap 4: the last priority holds and reaches waiting work`() async throws {
        try await raiseWhatWaitsForTheNetwork()
        await raiseWhatWaitsAtTheGate()
        for _ in 0..<200 { await changeFromTwoThreads() }
    }

    /// In the downloader's queue.
    private func raiseWhatWaitsForTheNetwork() async throws {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 1
        let downloader = WebImageDownloader(config: config, transport: transport)
        let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: Pipeline())
        var loads: [WebImageLoadOperation] = []
        for number in 0..<6 {
            loads.append(manager.loadImage(with: testURL("/\(number)")) { _ in })
            #expect(await becomes { downloader.currentDownloadCount == number + 1 })
        }
        loads[4].setPriority(.high)
        for priority in [LoadPriority.high, .normal, .high, .low] { loads[2].setPriority(priority) }
        while let transfer = transport.transfers.last, downloader.currentDownloadCount > 0 {
            transfer.end(WebImageError(.networkConnectionLost, ""))
        }
        #expect(transport.transfers.map { $0.request.url.path() } == ["/0", "/4", "/1", "/3", "/5", "/2"])
    }

    /// At the pipeline's back-pressure limiter, where the loader has not been called yet.
    private func raiseWhatWaitsAtTheGate() async {
        let harness = ManagerHarness(undecodedByteLimit: 1)
        _ = harness.start()
        let first = await harness.loader.waitForLoads(1)[0]
        let waiting = (0..<3).map { harness.start(testURL("/\($0)")).operation }
        waiting[2].setPriority(.high)
        waiting[0].setPriority(.high)
        waiting[0].setPriority(.low)
        first.succeed()
        for (count, path) in [(2, "/2"), (3, "/1"), (4, "/0")] {
            let load = await harness.loader.waitForLoads(count)[count - 1]
            #expect(load.request.url.path() == path)
            load.succeed()
        }
    }

    /// Two callers of one load, each with its own changes in order.
    private func changeFromTwoThreads() async {
        let harness = ManagerHarness()
        let operations = [harness.start().operation, harness.start().operation]
        let load = await harness.loader.waitForLoads(1)[0]
        let last = operations.map { _ in LoadPriority.allCases.randomElement() ?? .normal }
        await withTaskGroup(of: Void.self) { group in
            for (operation, last) in zip(operations, last) {
                group.addTask {
                    await onThread {
                        for number in 0..<9 { operation.setPriority(LoadPriority.allCases[number % 3]) }
                        operation.setPriority(last)
                    }
                }
            }
        }
        #expect(load.priority == last.max())
        for operation in operations { operation.cancel() }
    }

    @Test func `Trap 5: a cancelled prefetch starts nothing more, and one of cached images completes`() async throws {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 1
        let downloader = WebImageDownloader(config: config, transport: transport)
        let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: Pipeline())
        let prefetcher = WebImagePrefetcher(manager: manager)
        prefetcher.callbackQueue = .inline
        prefetcher.maxConcurrentPrefetchCount = 4
        // One in transfer, three in the downloader's queue, the others in the prefetcher's.
        let ends = Monitor<[PrefetchProgress]>([])
        for stops in [{ $0.cancel() }, { _ in prefetcher.cancelPrefetching() }] as [(WebImagePrefetchToken) -> Void] {
            let known = transport.transfers.count
            let lists = (0..<2).map { list in
                prefetcher.prefetch((0..<20).map { testURL("/\(list)/\($0)") }) { end in
                    ends.withLock { $0.append(end) }
                }
            }
            #expect(await becomes { downloader.currentDownloadCount == 4 })
            // The thread that starts loads has released the fourth: until then a cancellation reaches it a moment
            // later.
            try await WebImagePrefetcher.queue.run { () throws(WebImageError) in }
            lists[1].cancel()
            stops(lists[0])
            #expect(
                ends.withLock { $0.suffix(2) } == Array(repeating: .init(totalCount: 20, isCancelled: true), count: 2)
            )
            #expect(await becomes { downloader.currentDownloadCount == 0 })
            let transfers = transport.transfers(from: known)
            #expect(transfers.count == 1 && transfers[0].isCancelled)
            transfers[0].end(.cancelled())
            #expect(prefetcher.waitingCount == 0 && prefetcher.runningCount == 0)
            // The thread that starts loads may learn of the cancellation only now.
            #expect(await becomes { !manager.isRunning })
        }
        #expect(ends.withLock { $0.count } == 4)
        try await prefetchWhatIsCached()
    }

    /// The network is blocked, which does not affect cached images, in memory or on disk.
    private func prefetchWhatIsCached() async throws {
        let (loader, cache) = (FakeLoader(), FakeDisk().cache())
        let manager = WebImageManager(cache: cache, loader: loader, pipeline: Pipeline())
        let prefetcher = WebImagePrefetcher(manager: manager)
        prefetcher.callbackQueue = .inline
        let stuck = prefetcher.prefetch([testURL("/stuck"), testURL("/stuck/too")])
        _ = await loader.waitForLoads(2)
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let urls = (0..<40).map { testURL("/cached/\($0)") }
        for url in urls { cache.storeDataToDisk(image, forKey: url.absoluteString) }
        for target in [WebImagePrefetcher.Target.disk, .memory, .memory] {
            let progress = await prefetcher.prefetchAll(urls, target: target)
            #expect(progress == PrefetchProgress(finishedCount: 40, totalCount: 40))
        }
        #expect(urls.allSatisfy { cache.memoryImage(forKey: $0.absoluteString) != nil })
        #expect(!stuck.progress.isComplete && loader.loads.count == 2)
        stuck.cancel()
    }

    @Test func `Trap 5: cancelling every load of a manager starts none of the waiting ones`() async {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 2
        let downloader = WebImageDownloader(config: config, transport: transport)
        let manager = WebImageManager(cache: FakeCache(), loader: downloader, pipeline: Pipeline())
        var loads: [WebImageLoadOperation] = []
        for number in 0..<50 {
            loads.append(manager.loadImage(with: testURL("/\(number)")) { _ in })
            #expect(await becomes { downloader.currentDownloadCount == number + 1 })
        }
        manager.cancelAll()
        #expect(loads.allSatisfy(\.isCancelled) && transport.transfers.allSatisfy(\.isCancelled))
        #expect(transport.transfers.map { $0.request.url.path() } == ["/0", "/1"])
    }
}
