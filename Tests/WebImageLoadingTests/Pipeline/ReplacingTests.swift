import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageLoading
@testable import WebImageSupport

@Suite(.timeLimit(.minutes(1))) struct ReplacingTests {
    private func request(_ text: String, _ type: ImageCacheType) throws -> ImageStoreRequest {
        let image = Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8))
        var request = ImageStoreRequest(key: "k", image: image, data: Data(text.utf8))
        request.cacheType = type
        return request
    }

    private func replace(_ cache: any ImageCaching, _ request: ImageStoreRequest) async {
        await withCheckedContinuation { done in cache.replace(with: request) { done.resume() } }
    }

    @Test(arguments: [true, false], [ImageCacheType.none, .memory, .disk, .all])
    func `Each level has the new entry or none`(keepsExisting: Bool, type: ImageCacheType) async throws {
        let directory = TemporaryDirectory()
        var config = ImageCacheConfig()
        config.writesWithoutOverwriting = keepsExisting
        let cache = ImageCache(directory: directory.path, config: config)
        let old = try request("old", .all)
        await cache.store(old.image, data: old.data, forKey: "k")
        let new = try request("new", type)
        await replace(cache, new)
        #expect(cache.memoryImage(forKey: "k") === (type.includesMemory ? new.image : nil))
        #expect(cache.diskEntry(forKey: "k")?.data == (type.includesDisk ? Data("new".utf8) : nil))
    }

    @Test(arguments: [true, false])
    func `An entry cleared while it is replaced stays removed`(keepsExisting: Bool) throws {
        let (queue, disk) = (WorkQueue(stepped: "disk"), FakeDisk())
        var config = ImageCacheConfig()
        config.writesWithoutOverwriting = keepsExisting
        config.makeDiskCache = { _, _ in disk }
        let cache = ImageCache(path: disk.path, config: config, clock: .system, diskQueue: queue)
        cache.store(try request("old", .all), completion: nil)
        queue.runAll()
        let calls = Lock<[String]>([])
        cache.replace(with: try request("new", .all)) { calls.withLock { $0.append("replaced") } }
        #expect(cache.diskEntry(forKey: "k")?.data == Data("new".utf8), "it is found at once")
        cache.clear(.all) { calls.withLock { $0.append("cleared") } }
        queue.runAll()
        #expect(disk.content.withLock { $0.entries.isEmpty } && cache.memoryImage(forKey: "k") == nil)
        #expect(calls.withLock { $0 } == ["replaced", "cleared"])
    }

    @Test func `A custom cache counts as one that keeps existing entries`() async throws {
        let cache = FakeCache()
        await replace(cache, try request("new", .all))
        #expect(cache.edit { $0.stores.map(\.type) } == [.memory, .disk])
        #expect(cache.diskKeys == ["k"] && cache.memoryKeys == ["k"])
    }
}
