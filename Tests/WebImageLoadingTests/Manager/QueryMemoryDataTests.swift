import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading
@testable import WebImageModel

@Suite struct QueryMemoryDataTests {
    private func loaded(_ text: String = "bytes") async throws -> ManagerHarness {
        let harness = ManagerHarness.answering(text)
        _ = try await harness.start(options: .waitStoreCache).outcome.image()
        return harness
    }

    private func image() throws -> Image { Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8)) }

    @Test func `On a memory hit the bytes are delivered if requested (manager)`() async throws {
        let harness = try await loaded()
        let memory = try #require(harness.cache.memoryImage(forKey: harness.url.absoluteString))
        let plain = try await harness.start().outcome.value().get()
        #expect(plain.data == nil && harness.cache.edit { $0.diskReads.count } == 1, "the read of the first load")
        let asked = try await harness.start(options: .queryMemoryData).outcome.value().get()
        #expect(asked.image === memory && asked.data == Data("bytes".utf8) && asked.cacheType == .memory)
        let awaited = try await harness.manager.result(
            with: harness.url,
            options: [.queryMemoryData, .queryMemoryDataSync],
            context: harness.context()
        )
        #expect(awaited.image === memory && awaited.data == Data("bytes".utf8))
        #expect(harness.loader.loads.count == 1 && harness.coder.decodes.count == 1)
    }

    @Test(arguments: [WebImageOptions.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]])
    func `Bytes stored by another load are not delivered with the old image`(options: WebImageOptions) async {
        let harness = RefreshHarness("old")
        await harness.load()
        harness.server.publish("new")
        let newer: WebImageOptions = [.fromLoaderOnly, .waitStoreCache]
        _ = await harness.start(newer, context: harness.thumbnail(1)).deliveries.all(atLeast: 1)
        #expect(harness.disk[harness.key]?.data == Data("new".utf8))
        let whole = harness.start(options).deliveries
        #expect(await whole.texts(atLeast: 1) == ["image"])
    }

    @Test func `The bytes are delivered synchronously if requested`() async throws {
        let harness = try await loaded()
        let outcome = harness.start(options: [.queryMemoryData, .queryMemoryDataSync]).outcome
        #expect(outcome.count == 1)
        #expect(try await outcome.value().get().data == Data("bytes".utf8))
        let without = harness.start(options: .queryMemoryDataSync).outcome
        #expect(try await without.value().get().data == nil, "it says how, not whether")
    }

    @Test(arguments: [WebImageOptions.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]])
    func `Without an entry, or without disk access, there are no bytes`(options: WebImageOptions) async throws {
        let harness = try await loaded()
        let onlyMemory = harness.context { $0.queryCacheType = .memory }
        let reads = harness.cache.edit { $0.diskReads.count }
        #expect(try await harness.start(options: options, context: onlyMemory).outcome.value().get().data == nil)
        #expect(harness.cache.edit { $0.diskReads.count } == reads)
        harness.cache.edit { $0.disk = [:] }
        let result = try await harness.start(options: options).outcome.value().get()
        #expect(result.data == nil && result.cacheType == .memory)
    }

    @Test(arguments: [WebImageOptions.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]])
    func `An image scaled down by a byte limit has no bytes`(options: WebImageOptions) async throws {
        let harness = try await loaded()
        let key = harness.url.absoluteString
        var metadata = ImageMetadata()
        metadata.scaleDownLimitBytes = 1_000
        let small = try image().with(metadata: metadata)
        harness.cache.edit { $0.memory[key] = small }
        let context = harness.context { $0.scaleDownLimitBytes = 1_000 }
        let result = try await harness.start(options: options, context: context).outcome.value().get()
        #expect(result.image === small && result.data == nil)
    }

    @Test(arguments: [WebImageOptions.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]])
    func `An image stored while bytes are read is delivered with its own bytes`(options: WebImageOptions) async throws {
        let cache = SwappingCache()
        let harness = ManagerHarness.answering()
        let context = harness.context { $0.imageCache = cache }
        let (first, second, third) = (try image(), try image(), try image())
        let key = harness.url.absoluteString
        cache.base.edit { $0.memory[key] = first }
        cache.swaps.withLock { $0 = [("second", second)] }
        let swapped = try await harness.start(options: options, context: context).outcome.value().get()
        #expect(swapped.image === second && swapped.data == Data("second".utf8))
        cache.swaps.withLock { $0 = [("third", third), ("first", first)] }
        let restless = try await harness.start(options: options, context: context).outcome.value().get()
        #expect(restless.image === first && restless.data == nil, "it is not tried without end")
        cache.swaps.withLock { $0 = [("gone", nil)] }
        let gone = try await harness.start(options: options, context: context).outcome.value().get()
        #expect(gone.image === first && gone.data == nil)
    }

    @Test(arguments: [WebImageOptions.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]])
    func `Bytes written by another process are not delivered as the image's`(
        options: WebImageOptions
    ) async throws {
        let harness = try await loaded()
        let key = harness.url.absoluteString
        harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("other".utf8)) }
        let result = try await harness.start(options: options).outcome.value().get()
        #expect(result.cacheType == .memory && result.data == nil)
    }

    @Test func `An image stored by the user has its own bytes (cache)`() async throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(namespace: "pairs", directory: directory.path)
        let image = try image().with(sourceHash: 7, extendedData: nil)
        await cache.store(image, data: Data("encoded anew".utf8), forKey: "k")
        let own = await cache.queryImage(forKey: "k", options: .queryMemoryData)
        #expect(own.image === image && own.data == Data("encoded anew".utf8))
        await cache.store(try self.image().with(sourceHash: 8, extendedData: nil), forKey: "k", to: .memory)
        let other = await cache.queryImage(forKey: "k", options: .queryMemoryData)
        #expect(other.image != nil && other.data == nil)
    }

    @Test func `A load that waits for bytes can be cancelled`() async throws {
        let log = ProbeCache.Log()
        let cache = ProbeCache("held", log, entry: "bytes", isHeld: true)
        let harness = ManagerHarness.answering()
        cache.put(try image(), forKey: harness.url.absoluteString)
        let context = harness.context { $0.imageCache = cache }
        let (operation, outcome) = harness.start(options: .queryMemoryData, context: context)
        #expect(outcome.count == 0 && cache.queries.count == 1)
        operation.cancel()
        #expect(await outcome.error()?.code == .cancelled)
        #expect(cache.queries[0].isCancelled && !harness.manager.isRunning)
        cache.answer()
        #expect(outcome.count == 1)
        #expect(await harness.manager.pipeline.becomesIdle())
    }
}

/// A cache in which another image is stored during a read, as often as the test says.
private final class SwappingCache: ImageCaching {
    let base = FakeCache()
    let swaps = Lock<[(String, Image?)]>([])

    func memoryImage(forKey key: String) -> Image? { base.memoryImage(forKey: key) }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        swap(key)
        return base.queryDisk(forKey: key, priority: priority, completion: completion)
    }

    func diskEntry(forKey key: String) -> CachedImageData? {
        swap(key)
        return base.diskEntry(forKey: key)
    }

    private func swap(_ key: String) {
        guard let (text, image) = swaps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        base.edit { content in
            content.memory[key] = image
            content.disk[key] = CachedImageData(data: Data(text.utf8))
        }
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        base.store(request, completion: completion)
    }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        base.removeImage(forKey: key, from: cacheType, completion: completion)
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) { base.containsImage(forKey: key, in: cacheType, completion: completion) }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        base.clear(cacheType, completion: completion)
    }
}
