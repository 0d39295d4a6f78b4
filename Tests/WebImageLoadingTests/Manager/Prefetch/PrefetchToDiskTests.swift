import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageLoading
@testable import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct PrefetchToDiskTests {
    private let harness = ManagerHarness()

    private func prefetcher(_ context: WebImageContext? = nil) -> WebImagePrefetcher {
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        prefetcher.callbackQueue = .inline
        prefetcher.context = context ?? harness.context()
        return prefetcher
    }

    /// Prefetches the harness's URL, with a text as response.
    private func prefetch(_ text: String, _ prefetcher: WebImagePrefetcher) async -> PrefetchProgress {
        let url = harness.url
        async let progress = prefetcher.prefetchAll([url], target: .disk)
        await harness.loader.waitForLoads(1)[0].succeed(text)
        return await progress
    }

    @Test func `The bytes are stored and nothing is decoded`() async {
        let progress = await prefetch("picture", prefetcher())
        #expect(progress == PrefetchProgress(finishedCount: 1, totalCount: 1))
        #expect(harness.cache.diskKeys == [harness.url.absoluteString])
        #expect(harness.cache.memoryKeys.isEmpty && harness.coder.decodes.isEmpty)
    }

    @Test func `Bytes that are not an image are not stored, and the URL counts as failed`() async {
        var context = WebImageContext()
        context.callbackQueue = .inline
        let progress = await prefetch("<html>", prefetcher(context))
        #expect(progress.skippedCount == 1)
        #expect(harness.cache.diskKeys.isEmpty)
        #expect(harness.manager.isFailed(harness.url))
    }

    @Test func `An image on disk is not loaded again`() async {
        let key = harness.url.absoluteString
        harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("old".utf8)) }
        let progress = await prefetcher().prefetchAll([harness.url], target: .disk)
        #expect(progress == PrefetchProgress(finishedCount: 1, totalCount: 1))
        #expect(harness.loader.loads.isEmpty)
        let reads = harness.cache.edit { $0.diskReads }
        #expect(reads.isEmpty)
    }

    @Test func `A priority set during the disk query reaches the download`() {
        let (diskQueue, queue) = (WorkQueue(stepped: "disk"), WorkQueue(stepped: "prefetch"))
        var config = ImageCacheConfig()
        config.makeDiskCache = { path, _ in FakeDisk(path: path) }
        let cache = ImageCache(path: "/nowhere", config: config, clock: .system, diskQueue: diskQueue)
        let manager = WebImageManager(cache: cache, loader: harness.loader, pipeline: Pipeline())
        let prefetcher = WebImagePrefetcher(manager: manager, queue: queue)
        prefetcher.callbackQueue = .inline
        let token = prefetcher.prefetch([harness.url], target: .disk, priority: .high)
        queue.runAll()
        token.setPriority(.low)
        queue.runAll()
        #expect(harness.loader.loads.isEmpty)
        diskQueue.runAll()
        #expect(harness.loader.loads.map(\.priority) == [.low])
        token.cancel()
    }

    @Test func `A URL that failed before is skipped, unless retryFailed is set`() async {
        harness.manager.noteEnd(
            of: harness.url,
            options: [],
            loader: harness.loader,
            error: WebImageError(.badImageData, "bad")
        )
        let prefetcher = prefetcher()
        #expect(await prefetcher.prefetchAll([harness.url], target: .disk).skippedCount == 1)
        #expect(harness.loader.loads.isEmpty)
        prefetcher.options = [.lowPriority, .retryFailed]
        #expect(await prefetch("picture", prefetcher).skippedCount == 0)
        #expect(!harness.manager.isFailed(harness.url))
    }

    @Test func `Without a key nothing can be stored, so nothing is loaded`() async {
        var context = harness.context()
        context.cacheKeyFilter = CacheKeyFilter { _ in nil }
        #expect(await prefetcher(context).prefetchAll([harness.url], target: .disk).skippedCount == 1)
        #expect(harness.loader.loads.isEmpty)
    }

    @Test func `A list to disk shares the download with a load of the image`() async throws {
        let prefetcher = prefetcher()
        let url = harness.url
        async let progress = prefetcher.prefetchAll([url], target: .disk)
        let load = await harness.loader.waitForLoads(1)[0]
        var context = harness.context()
        context.originalQueryCacheType = ImageCacheType.none
        context.queryCacheType = ImageCacheType.none
        let view = harness.start(options: .highPriority, context: context)
        #expect(await load.becomes(.high))
        load.succeed()
        _ = try await view.outcome.image()
        #expect(await progress.finishedCount == 1)
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `Cancelling stops the download and stores nothing`() async {
        let token = prefetcher().prefetch([harness.url], target: .disk)
        let load = await harness.loader.waitForLoads(1)[0]
        token.cancel()
        // The thread that started the download may learn of the cancellation only now.
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(load.isCancelled && harness.cache.diskKeys.isEmpty)
    }

    @Test func `A real image is prefetched to disk over the network, and a view shows it without another download`()
        async throws
    {
        let bytes = try Fixtures.data("JPEG/baseline-420.jpg")
        let requests = EventCounter()
        let harness = try EndToEndHarness { _ in
            requests.signal()
            return .response(body: [UInt8](bytes))
        }
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let url = harness.server.url("/a.jpg")
        let progress = await prefetcher.prefetchAll([url], target: .disk)
        #expect(progress == PrefetchProgress(finishedCount: 1, totalCount: 1))
        let result = try await harness.manager.result(with: url)
        #expect(result.cacheType == .disk && requests.count == 1)
    }
}
