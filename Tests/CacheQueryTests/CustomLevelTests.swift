import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct CustomLevelTests {
    private final class Levels: MemoryCaching, DiskCaching {
        struct Content {
            var images: [String: Image] = [:]
            var entries: [String: CachedImageData] = [:]
            var ages: [Double] = []
            var cleanups = 0
        }

        let path: String
        let content = Lock(Content())

        init(path: String = "") { self.path = path }

        func apply(_ config: ImageCacheConfig) { content.withLock { $0.ages.append(config.maxDiskAge) } }
        func image(forKey key: String) -> Image? { content.withLock { $0.images[key] } }
        func setImage(_ image: Image?, forKey key: String, cost: Int?) { content.withLock { $0.images[key] = image } }
        func removeImage(forKey key: String) { content.withLock { $0.images[key] = nil } }
        func removeAll() { content.withLock { $0.images = [:] } }
        func cachePath(forKey key: String) -> String { path + "/" + key }
        func entry(forKey key: String) -> CachedImageData? { content.withLock { $0.entries[key] } }
        func containsData(forKey key: String) -> Bool { entry(forKey: key) != nil }
        func removeData(forKey key: String) { content.withLock { $0.entries[key] = nil } }
        func removeAllData() { content.withLock { $0.entries = [:] } }
        func usage() -> (count: Int, size: Int) { content.withLock { ($0.entries.count, 0) } }

        func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
            content.withLock { $0.entries[key] = CachedImageData(data: data, extendedData: extendedData) }
            return true
        }

        func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup {
            content.withLock { $0.cleanups += 1 }
            return DiskCacheCleanup()
        }
    }

    @Test func `A cache works on custom levels`() async throws {
        let directory = TemporaryDirectory()
        let memory = Levels()
        let disks = Lock<[Levels]>([])
        var config = ImageCacheConfig()
        config.makeMemoryCache = { _ in memory }
        config.makeDiskCache = { path, _ in
            let disk = Levels(path: path)
            disks.withLock { $0.append(disk) }
            return disk
        }
        let cache = ImageCache(namespace: "mine", directory: directory.path, config: config)
        let disk = try #require(disks.withLock { $0.first })
        #expect(cache.diskCachePath == directory.path + "/mine")
        let image = Image(bitmap: try .allocate(width: 2, height: 2, pixelFormat: .rgb8))
        await cache.store(image, data: Data([1, 2]), forKey: "key")
        #expect(memory.image(forKey: "key") === image)
        #expect(disk.entry(forKey: "key")?.data == Data([1, 2]))
        #expect(await cache.containsImage(forKey: "key", in: .disk) == .disk)
        #expect(cache.cachePath(forKey: "key") == directory.path + "/mine/key")
        #expect(await cache.calculateSize().count == 1)
        cache.config.maxDiskAge = 5
        #expect(disk.content.withLock { $0.ages.last } == 5)
        #expect(memory.content.withLock { $0.ages.last } == 5)
        await cache.clear()
        #expect(memory.image(forKey: "key") == nil && disk.entry(forKey: "key") == nil)
        #expect(FileManager.default.fileExists(atPath: directory.path + "/mine") == false, "no built-in level was made")
    }

    @Test(arguments: [true, false])
    func `Entering the background removes expired entries if configured`(isOn: Bool) async {
        let disk = Levels()
        var config = ImageCacheConfig()
        config.makeDiskCache = { _, _ in disk }
        config.shouldRemoveExpiredDataWhenEnterBackground = isOn
        let cache = ImageCache(config: config)
        cache.didEnterBackground()
        _ = await cache.removeExpiredData()
        // The queue may run the later call first; both have begun once a low-priority one behind them has ended.
        await withCheckedContinuation { continuation in cache.diskQueue.submit(priority: .low) { continuation.resume() }
        }
        let expected = isOn ? 2 : 1
        await wait(while: disk.content.withLock({ $0.cleanups }) < expected)
        #expect(disk.content.withLock { $0.cleanups } == expected)
    }
}
