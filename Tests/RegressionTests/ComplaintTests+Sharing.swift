import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

extension ComplaintTests {
    @Test func `Complaint 14: two sizes of one URL are two images under two keys`() async throws {
        let gate = Gate()
        let body = [UInt8](try Fixtures.data("JPEG/photo.jpg"))
        let harness = try EndToEndHarness { _ in .drip([body], gate: gate) }
        let url = harness.server.url("/a.jpg")
        func context(_ box: (Int, Int)?, _ keepsAspect: Bool?) -> WebImageContext {
            .with {
                $0.thumbnailPixelSize = box.map { ImageSize(width: $0.0, height: $0.1) }
                $0.preserveAspectRatio = keepsAspect
            }
        }
        // 480 × 360 at full size.
        let wanted: [(context: WebImageContext, width: Int, height: Int)] = [
            (context((100, 100), nil), 100, 75), (context((100, 100), false), 100, 100),
            (context((48, 100), nil), 48, 36), (context(nil, nil), 480, 360), (context((48, 100), false), 48, 100),
        ]
        let keys = Set(wanted.map { harness.manager.cacheKey(for: url, context: $0.context) })
        #expect(keys.count == wanted.count)
        // All at once while the image is loading; then from memory; then from disk.
        for round in 0..<3 {
            async let first = harness.manager.result(with: url, options: .waitStoreCache, context: wanted[0].context)
            var rest: [WebImageResult] = []
            try await withThrowingTaskGroup(of: (Int, WebImageResult).self) { group in
                for (number, item) in wanted.enumerated().dropFirst() {
                    let (manager, context) = (harness.manager, item.context)
                    group.addTask {
                        (number, try await manager.result(with: url, options: .waitStoreCache, context: context))
                    }
                }
                // Until the rest have joined the first one's download.
                #expect(await becomes { round > 0 || harness.manager.pipeline.joinCount >= wanted.count - 1 })
                gate.open()
                rest = try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
            for (item, result) in zip(wanted, [try await first] + rest) {
                #expect(
                    (result.image.pixelWidth, result.image.pixelHeight) == (item.width, item.height),
                    "round \(round)"
                )
                #expect(result.cacheKey == harness.manager.cacheKey(for: url, context: item.context))
                #expect(result.image.metadata.isThumbnail == (item.width != 480))
                #expect(round == 0 || result.cacheType == (round == 1 ? .memory : .disk))
            }
            await harness.cache.flush()
            if round == 1 { await harness.cache.clear(.memory) }
        }
        #expect(harness.server.requestCount() == 1)
        #expect(await harness.cache.diskData(forKey: url.absoluteString) == Data(body))
    }

    @Test func `Complaint 15: a hundred loads at once read and decode a file once`() async throws {
        let (disk, coder, loader) = (FakeDisk(), FakeCoder(), FakeLoader())
        let cache = disk.cache()
        let manager = WebImageManager(cache: cache, loader: loader, pipeline: Pipeline())
        let url = testURL("/a")
        disk.content.withLock { $0.entries[url.absoluteString] = CachedImageData(data: FakeCoder.data()) }
        let gate = Gate()
        disk.holdReads(gate)
        func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
            .with {
                $0.imageCoder = coder
                $0.callbackQueue = .inline
                change(&$0)
            }
        }
        // Views that show it whole, and those that show two sizes of it.
        let boxes = [nil, ImageSize(width: 2, height: 2), ImageSize(width: 3, height: 2)]
        let outcomes = (0..<100).map { number -> Outcome in
            let outcome = Outcome()
            manager.loadImage(
                with: url,
                context: context {
                    $0.thumbnailPixelSize = boxes[number % 3]
                    $0.storeCacheType = .memory
                }
            ) { outcome.record($0) }
            return outcome
        }
        #expect(await gate.arrivals())
        gate.open()
        for (number, outcome) in outcomes.enumerated() {
            let result = try await outcome.value().get()
            #expect(result.cacheType == .disk && result.image.pixelWidth == [4, 2, 3][number % 3])
        }
        #expect(coder.decodeCount == 3 && loader.loads.isEmpty)
        // Each size is searched under its own key, and derived from the original, which may have been read by then.
        let reads = Dictionary(grouping: disk.content.withLock { $0.reads }) { $0 }.mapValues(\.count)
        #expect(reads.count == 3 && reads.allSatisfy { $0.key == url.absoluteString ? $0.value <= 3 : $0.value == 1 })

        // With a query of disk, a load that another's image in memory would serve is still served from disk.
        let outcome = Outcome()
        manager.loadImage(with: url, context: context { $0.queryCacheType = .disk }) { outcome.record($0) }
        #expect(try await outcome.value().get().cacheType == .disk)
        #expect(coder.decodeCount == 4)
        #expect(try await manager.result(with: url, context: context()).cacheType == .memory)
        #expect(
            try await manager.result(with: url, context: context { $0.queryCacheType = .memory }).cacheType == .memory
        )
        #expect(coder.decodeCount == 4)
    }

    @Test func `Complaint 35: a second prefetch, a cancel and a failure leave the counts right`() async throws {
        let harness = ManagerHarness()
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = harness.context()
        prefetcher.maxConcurrentPrefetchCount = 100
        let ends = Lock<[String: [PrefetchProgress]]>([:])
        func prefetch(_ name: String, _ count: Int) -> WebImagePrefetchToken {
            prefetcher.prefetch((0..<count).map { testURL("/\(name)/\($0)") }) { progress in
                ends.withLock { $0[name, default: []].append(progress) }
            }
        }
        let first = prefetch("a", 4)
        var loads = await harness.loader.waitForLoads(4)
        loads[0].succeed()
        #expect(await becomes { first.progress.finishedCount == 1 })
        // Another list, and one that has half of the same.
        let (second, third) = (prefetch("b", 3), prefetch("a", 2))
        loads = await harness.loader.waitForLoads(7)
        #expect(!first.isCancelled && !loads.contains(where: \.isCancelled))
        #expect(await becomes { third.progress.finishedCount == 1 }, "the cached image")
        #expect(await becomes { harness.manager.pipeline.joinCount == 1 }, "the image being loaded")
        second.cancel()
        #expect(ends.withLock { $0["b"] } == [PrefetchProgress(totalCount: 3, isCancelled: true)])
        #expect(loads.filter(\.isCancelled).map { $0.request.url.path() }.allSatisfy { $0.hasPrefix("/b/") })
        // A failure is an end like any other; the load that two lists wait for is one.
        loads[1].answer(.failure(WebImageError(.timedOut, "")))
        loads[2].succeed("bad")
        loads[3].succeed()
        #expect(await becomes { ends.withLock { $0["a"]?.count } == 2 })
        let ended = ends.withLock { $0["a"] ?? [] }.sorted { $0.totalCount < $1.totalCount }
        try #require(ended.count == 2)
        #expect(ended[0] == PrefetchProgress(finishedCount: 2, skippedCount: 1, totalCount: 2))
        #expect(ended[1] == PrefetchProgress(finishedCount: 4, skippedCount: 2, totalCount: 4))
        #expect(first.progress == ended[1] && third.progress == ended[0] && second.isCancelled)
        first.cancel()
        #expect(!first.isCancelled && ends.withLock { $0["a"]?.count } == 2)
        #expect(prefetcher.runningCount == 0 && prefetcher.waitingCount == 0)
        #expect(await harness.manager.pipeline.becomesIdle())
    }
}
