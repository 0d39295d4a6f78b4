import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading
@testable import WebImageModel

extension ComplaintTests {
    @Test func `Complaint 8: a memory hit is delivered before the call returns`() async throws {
        for size in [nil, ImageSize(width: 20, height: 20)] {
            let harness = try ImageHarness(fixture: "JPEG/baseline-420.jpg")
            _ = try await harness.load { $0.thumbnailPixelSize = size }
            // A queue for callbacks on which loads also start, as the main queue is for views.
            let queue = SerialQueue()
            let context = harness.context {
                $0.callbackQueue = queue.callbacks
                $0.thumbnailPixelSize = size
            }
            let came = Lock<[ImageCacheType]>([])
            @Sendable func load(_ options: WebImageOptions = []) -> WebImageLoadOperation {
                harness.manager.loadImage(with: harness.url, options: options, context: context) { result in
                    came.withLock { $0.append((try? result.get().cacheType) ?? .all) }
                }
            }
            func sources() -> [ImageCacheType] { came.withLock { exchange(&$0, for: []) } }
            let (decodes, loads) = (harness.coder.decodeCount, harness.loader.count)
            #expect(
                await queue.run {
                    [load(), load(), load()].allSatisfy(\.isFinished) && came.withLock { $0.count == 3 }
                }
            )
            #expect(sources() == [.memory, .memory, .memory])
            #expect(harness.coder.decodeCount == decodes && harness.loader.count == loads && !harness.manager.isRunning)
            // After a memory warning the image is on disk, and callers that must not flicker can read it synchronously.
            harness.cache.didReceiveMemoryWarning()
            #expect(await queue.run { [load(.queryDiskDataSync), load()].count == came.withLock { $0.count } })
            #expect(sources() == [.disk, .memory])
            // A refreshed image is shown first.
            let refresh = await queue.run { () -> (load: WebImageLoadOperation, count: Int) in
                (load(.refreshCached), came.withLock { $0.count })
            }
            #expect(refresh.count == 1 && sources().first == .memory)
            refresh.load.cancel()
            // The cache by itself.
            let key = harness.manager.cacheKey(for: harness.url, context: context)
            let found = await queue.run { () -> ImageCacheType? in
                let found = Lock<ImageCacheType?>(nil)
                harness.cache.queryImage(forKey: key, context: context) { result in
                    found.withLock { $0 = result.cacheType }
                }
                return found.withLock { $0 }
            }
            #expect(found == .memory)
            _ = await harness.manager.pipeline.becomesIdle()
        }
    }

    @Test func `Complaint 9: an image retained only by a view is found by the load that replaces it`() async throws {
        let data = try Fixtures.data("JPEG/baseline-420.jpg")
        let harness = ImageHarness(config: {
            $0.shouldUseWeakMemoryCache = true
            $0.maxMemoryCost = 40_000
        }) { _ in .success(data) }
        /// The view's only reference: the image.
        func show(_ url: URL? = nil) async throws -> (image: Image, source: ImageCacheType, isAtOnce: Bool) {
            let outcome = Outcome()
            let load = harness.manager.loadImage(with: url ?? harness.url, context: harness.context()) {
                outcome.record($0)
            }
            let isAtOnce = load.isFinished
            let result = try await outcome.value().get()
            return (result.image, result.cacheType, isAtOnce)
        }
        var shown: Image? = try await show().image
        let identity = shown.map(ObjectIdentifier.init)
        harness.cache.didReceiveMemoryWarning()
        for _ in 0..<2 {
            let again = try await show()
            #expect(again.isAtOnce && again.source == .memory && ObjectIdentifier(again.image) == identity)
            // Evicted by others, as on a long page.
            for number in 0..<20 { _ = try await show(testURL("/\(number)")) }
        }
        #expect(harness.loader.count == 21 && shown != nil)
        // Once no longer shown it is gone; a weak cache retains nothing.
        await harness.cache.flush()
        shown = nil
        harness.cache.didReceiveMemoryWarning()
        let key = harness.url.absoluteString
        #expect(await becomes { harness.cache.memoryImage(forKey: key) == nil })
        #expect(try await show().source == .disk)
    }

    @Test @MainActor func `Complaint 24: completions on the main thread may call back into every part`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        for queue in [nil, SerialQueue().callbacks, CallbackQueue.inline] {
            // Threads that could wait for themselves, one of each kind.
            let harness = ImageHarness(config: { $0.maxConcurrentDiskOperations = 1 }) { _ in .success(image) }
            let (cache, manager, url) = (harness.cache, harness.manager, harness.url)
            let downloader = WebImageDownloader(transport: FakeTransport())
            let prefetcher = WebImagePrefetcher(manager: manager)
            let context = harness.context { $0.callbackQueue = queue }
            let entered = Lock(0)
            let useEverything: @Sendable () -> Void = {
                entered.withLock { $0 += 1 }
                let other = testURL("/other/\(entered.withLock { $0 })")
                let key = other.absoluteString
                cache.storeDataToDisk(image, forKey: key)
                _ = cache.image(forKey: key, context: context)
                manager.loadImage(with: other, options: .queryDiskDataSync, context: context) { _ in }
                manager.loadImage(with: other, context: context) { _ in }.cancel()
                cache.store(ImageStoreRequest(key: key, data: image), completion: nil)
                _ = (cache.diskData(forKey: key), cache.diskDataExists(forKey: key), cache.totalDiskSize)
                cache.removeImageFromDisk(forKey: key)
                cache.config.maxDiskAge = 1_000_000
                prefetcher.prefetch([other]).cancel()
                downloader.downloadData(with: other) { _ in }.cancel()
                downloader.isSuspended.toggle()
                downloader.cancelAllDownloads()
                manager.removeAllFailedURLs()
                _ = (manager.isRunning, manager.isFailed(url), cache.droppedWriteCount, downloader.currentDownloadCount)
            }
            let ends = EventCounter()
            let end: @Sendable () -> Void = {
                useEverything()
                ends.signal()
            }
            let key = url.absoluteString
            manager.loadImage(with: url, context: context, progress: { _ in useEverything() }) { _ in end() }
            manager.loadImage(with: url, options: [.refreshCached, .waitStoreCache], context: context, end: end) { _ in
            }
            cache.store(ImageStoreRequest(key: "stored", data: image), completion: end)
            cache.queryImage(forKey: key, context: context) { _ in end() }
            _ = cache.queryDisk(forKey: key, priority: .high) { _ in end() }
            cache.containsImage(forKey: key, in: .all) { _ in end() }
            cache.setExtendedData(Data([1]), forKey: "stored", completion: end)
            cache.removeImage(forKey: "none", from: .all, completion: end)
            cache.calculateSize(callbackQueue: queue ?? .main) { _, _ in end() }
            cache.removeExpiredData(callbackQueue: queue ?? .main) { _ in end() }
            prefetcher.callbackQueue = queue ?? .main
            prefetcher.prefetch([url], context: context, progress: { _ in useEverything() }) { _ in end() }
            downloader.downloadData(with: url, callbackQueue: queue ?? .main) { _ in end() }.cancel()
            cache.clear(.disk, completion: end)
            await ends.wait(for: 13)
            #expect(await manager.pipeline.becomesIdle())
            await cache.flush()
        }
    }
}
