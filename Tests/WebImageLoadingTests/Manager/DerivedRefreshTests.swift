import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// Refreshes of thumbnails and transformed images, with levels that are or are not stored to.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct DerivedRefreshTests {
    private static func contexts(_ harness: RefreshHarness) -> [WebImageContext] {
        [
            harness.thumbnail(2),
            harness.context { $0.imageTransformer = .transformer(FakeTransformer("t")) },
            harness.context {
                $0.thumbnailPixelSize = ImageSize(width: 2, height: 2)
                $0.imageTransformer = .transformer(PipelineTransformer([FakeTransformer("a"), FakeTransformer("b")]))
            },
        ]
    }

    @Test(arguments: 0..<3)
    func `A thumbnail or transformed image is refreshed under its own key`(kind: Int) async throws {
        let harness = RefreshHarness("old", etag: "\"1\"")
        let context = Self.contexts(harness)[kind]
        let key = harness.manager.cacheKey(for: harness.url, context: context)
        await harness.load(context: context)
        #expect(await harness.start(context: context).deliveries.texts(atLeast: 1) == ["image"])
        harness.server.publish("new", etag: "\"2\"")
        let results = try await harness.start([.refreshCached, .waitStoreCache], context: context).deliveries
            .all(atLeast: 2).map { try $0.get() }
        #expect(results.map(\.cacheType) == [.memory, .none] && results.map(\.cacheKey) == [key, key])
        #expect(harness.cache.memoryImage(forKey: key) === results[1].image)
        #expect(harness.disk[harness.key]?.data == Data("new".utf8))
        #expect(harness.disk[key]?.validators?.receivedHash == Data("new".utf8).contentHash)
    }

    @Test(arguments: 0..<3, [true, false])
    func `An image derived from an older original is made again, without a download`(kind: Int, inMemory: Bool)
        async throws
    {
        let harness = RefreshHarness("old", etag: "\"1\"")
        let context = Self.contexts(harness)[kind]
        await harness.load(context: context)
        await harness.load()
        harness.server.publish("new", etag: "\"2\"")
        #expect(await harness.start().deliveries.texts(atLeast: 2) == ["image", "new"])
        if !inMemory { harness.fake.edit { $0.memory = [:] } }
        let options: WebImageOptions = [.refreshCached, .waitStoreCache]
        let results = try await harness.start(options, context: context).deliveries.all(atLeast: 2).map { try $0.get() }
        #expect(results.map(\.cacheType) == [inMemory ? .memory : .disk, .disk])
        #expect(results.map(\.isFinal) == [false, true])
        #expect(harness.server.requests.last?.additionalHeaders["If-None-Match"] == "\"2\"")
        #expect(await harness.start(context: context).deliveries.all(atLeast: 1).count == 1, "it is up to date now")
    }

    @Test func `A refresh takes the old image from the memory of its original`() async throws {
        let harness = RefreshHarness("old", etag: "\"1\"")
        await harness.load()
        await harness.load(context: harness.thumbnail(2))
        harness.server.publish("new", etag: "\"2\"")
        _ = await harness.start(context: harness.thumbnail(2)).deliveries.all(atLeast: 2)
        #expect(harness.cache.memoryImage(forKey: harness.key) == nil)
        let plain = await harness.start([]).deliveries.texts(atLeast: 1)
        #expect(plain == ["new"])
    }

    @Test func `A level that is not stored to does not keep the old image`() async {
        let harness = RefreshHarness("new", etag: "\"2\"")
        harness.put("old", etag: "\"1\"")
        let context = harness.context {
            $0.originalStoreCacheType = ImageCacheType.none
            $0.storeCacheType = .memory
        }
        _ = await harness.start([.refreshCached, .waitStoreCache], context: context).deliveries.all(atLeast: 2)
        #expect(harness.disk.isEmpty && harness.fake.memoryKeys == [harness.key])
        let onDisk = RefreshHarness("new", etag: "\"2\"")
        onDisk.put("old", etag: "\"1\"")
        onDisk.fake.edit { $0.memory = [:] }
        await onDisk.load(context: onDisk.thumbnail(2))
        let diskOnly = onDisk.context {
            $0.thumbnailPixelSize = ImageSize(width: 2, height: 2)
            $0.storeCacheType = .disk
        }
        _ = await onDisk.start([.refreshCached, .waitStoreCache], context: diskOnly).deliveries.all(atLeast: 2)
        #expect(onDisk.fake.memoryKeys.isEmpty && onDisk.disk.count == 2)
    }

    @Test func `A refresh replaces entries that are not to be overwritten`() async throws {
        let directory = TemporaryDirectory()
        var config = ImageCacheConfig()
        config.writesWithoutOverwriting = true
        let cache = ImageCache(directory: directory.path, config: config)
        let harness = RefreshHarness("old", cache: cache)
        let thumbnail = harness.thumbnail(2)
        let key = harness.manager.cacheKey(for: harness.url, context: thumbnail)
        await cache.store(nil, data: Data("old".utf8), forKey: harness.key, to: .disk)
        await cache.store(nil, data: Data("old small".utf8), forKey: key, to: .disk)
        harness.server.publish("new")
        let deliveries = harness.start([.refreshCached, .waitStoreCache], context: thumbnail).deliveries
        #expect(await deliveries.texts(atLeast: 2) == ["old small", "image"])
        #expect(cache.diskEntry(forKey: harness.key)?.data == Data("new".utf8))
        #expect(cache.diskEntry(forKey: key)?.data == Data("encoded".utf8))
    }

    @Test func `A cache without validators is refreshed by comparing bytes`() async {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let harness = RefreshHarness("old", cache: cache)
        await harness.load()
        await cache.clear(.memory)
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["old"])
        harness.server.publish("new")
        let deliveries = harness.start([.refreshCached, .waitStoreCache]).deliveries
        #expect(await deliveries.texts(atLeast: 2) == ["image", "new"])
        #expect(cache.diskEntry(forKey: harness.key)?.data == Data("new".utf8))
    }
}
