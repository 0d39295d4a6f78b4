import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite struct ImageStoreRequestTests {
    private final class Disk: DiskCaching {
        let path = "/nowhere"
        let entries = Lock<[String: CachedImageData]>([:])
        let touches = Lock(0)

        func apply(_ config: ImageCacheConfig) {}
        func cachePath(forKey key: String) -> String { path + "/" + key }
        func entry(forKey key: String) -> CachedImageData? { entries.withLock { $0[key] } }
        func containsData(forKey key: String) -> Bool { entry(forKey: key) != nil }
        func removeData(forKey key: String) { entries.withLock { $0[key] = nil } }
        func removeAllData() { entries.withLock { $0 = [:] } }
        func usage() -> (count: Int, size: Int) { (0, 0) }
        func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup { DiskCacheCleanup() }
        func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
            store(CachedImageData(data: data, extendedData: extendedData), forKey: key)
        }
        @discardableResult
        func store(_ entry: CachedImageData, forKey key: String) -> Bool {
            entries.withLock { $0[key] = entry }
            touches.withLock { $0 += 1 }
            return true
        }
    }

    private func cache(on disk: Disk) -> ImageCache {
        var config = ImageCacheConfig()
        config.makeDiskCache = { _, _ in disk }
        return ImageCache(config: config)
    }

    private let validators = CacheValidators(etag: "\"1\"", lastModified: nil)

    private func store(_ request: ImageStoreRequest, in cache: ImageCache) async {
        await withCheckedContinuation { continuation in cache.store(request) { continuation.resume() } }
    }

    @Test func `Bytes are stored with validators and extended data; those of the request override the image's`() async {
        let disk = Disk()
        let cache = cache(on: disk)
        let image = FakeCoder.image().with(extendedData: Data([1]))
        var request = ImageStoreRequest(key: "k", image: image, data: Data([9]))
        request.validators = validators
        await store(request, in: cache)
        let own = CachedImageData(data: Data([9]), extendedData: Data([1]), validators: validators)
        #expect(disk.entry(forKey: "k") == own)
        request.extendedData = Data([2])
        await store(request, in: cache)
        #expect(disk.entry(forKey: "k")?.extendedData == Data([2]))
        #expect(cache.memoryImage(forKey: "k") === image)
    }

    @Test func `An image without bytes is encoded by the request's coder and stored with the same metadata`()
        async throws
    {
        let disk = Disk()
        let cache = cache(on: disk)
        let coder = FakeCoder()
        var request = ImageStoreRequest(key: "k", image: FakeCoder.image())
        request.cacheType = .disk
        request.coder = coder
        request.extendedData = Data([2])
        request.validators = validators
        await store(request, in: cache)
        let entry = try #require(disk.entry(forKey: "k"))
        #expect(coder.encodeCount == 1 && coder.canDecode(entry.data))
        #expect(entry.extendedData == Data([2]) && entry.validators == validators)
        #expect(cache.memoryImage(forKey: "k") == nil)
    }

    @Test func `A disk level without its own amend reads the entry and stores it again`() {
        let disk = Disk()
        disk.amend(extendedData: .some(Data([1])), validators: nil, forKey: "k")
        #expect(disk.entry(forKey: "k") == nil, "there is nothing to amend")
        disk.store(CachedImageData(data: Data([9]), extendedData: Data([1])), forKey: "k")
        disk.amend(extendedData: nil, validators: validators, forKey: "k")
        #expect(
            disk.entry(forKey: "k")
                == CachedImageData(data: Data([9]), extendedData: Data([1]), validators: validators)
        )
        disk.amend(extendedData: .some(nil), validators: nil, forKey: "k")
        #expect(disk.entry(forKey: "k") == CachedImageData(data: Data([9]), validators: validators))
        let touches = disk.touches.withLock { $0 }
        disk.amend(extendedData: nil, validators: nil, forKey: "k")
        #expect(disk.touches.withLock { $0 } == touches, "nothing was to be changed")
    }
}
