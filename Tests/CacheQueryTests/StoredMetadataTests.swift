import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite struct StoredMetadataTests {
    private let directory = TemporaryDirectory()
    private let key = "http://h/a.png"
    private let data = FakeCoder.data()
    private let validators = CacheValidators(etag: "\"1\"", lastModified: nil)

    @Test func `Extended data is set, read and removed, and is removed with the entry`() async {
        let cache = ImageCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: .system)
        await cache.setExtendedData(Data([1]), forKey: key)
        #expect(await cache.extendedData(forKey: key) == nil, "there is no entry")
        await cache.store(nil, data: data, forKey: key)
        await cache.setExtendedData(Data([1]), forKey: key)
        #expect(await cache.extendedData(forKey: key) == Data([1]))
        #expect(cache.diskEntry(forKey: key) == CachedImageData(data: data, extendedData: Data([1])))
        let found = await wait { done in
            cache.extendedData(forKey: key, callbackQueue: .inline) { done($0 == Data([1])) }
        }
        #expect(found == true)
        await cache.setExtendedData(nil, forKey: key)
        #expect(await cache.extendedData(forKey: key) == nil)
        #expect(await cache.diskData(forKey: key) == data)
        await cache.setExtendedData(Data([1]), forKey: "")
        #expect(await cache.extendedData(forKey: "") == nil)
    }

    @Test func `A change is visible from the call on, whatever is pending`() async {
        let disk = FakeDisk()
        let cache = disk.cache()
        let gate = Gate()
        disk.holdStores(gate)
        cache.storeLater(data, key)
        cache.setExtendedData(Data([1]), forKey: key, completion: nil)
        cache.amend(validators: validators, forKey: key)
        let expected = CachedImageData(data: data, extendedData: Data([1]), validators: validators)
        #expect(cache.diskEntry(forKey: key) == expected)
        #expect(await cache.extendedData(forKey: key) == Data([1]))
        gate.open()
        await cache.flush()
        #expect(disk.entry(forKey: key) == expected)
        cache.amend(validators: nil, forKey: key)
        #expect(cache.diskEntry(forKey: key)?.validators == nil)
        await cache.flush()
        #expect(disk.entry(forKey: key) == CachedImageData(data: data, extendedData: Data([1])))
        cache.amend(validators: validators, forKey: "")
        #expect(cache.prepareForExit(within: 20))
    }

    @Test func `A request's extended data and validators are stored with it and found by queries`() async {
        let disk = FakeDisk()
        let cache = disk.cache()
        var request = ImageStoreRequest(key: key, image: FakeCoder.image(), data: data)
        request.extendedData = Data([3])
        request.validators = validators
        cache.store(request, completion: nil)
        let expected = CachedImageData(data: data, extendedData: Data([3]), validators: validators)
        let found = await wait { done in cache.queryDisk(forKey: key, priority: .normal) { done($0 == expected) } }
        #expect(found == true)
        await cache.flush()
        #expect(disk.entry(forKey: key) == expected)
    }

    @Test func `Without overwriting, a removal and a store make a new entry`() async {
        let cache = ImageCache(
            path: directory.path("kept"),
            config: {
                var config = ImageCacheConfig()
                config.writesWithoutOverwriting = true
                return config
            }(),
            clock: .system
        )
        for round in 0..<20 {
            cache.storeDataToDisk(Data([1]), forKey: key)
            cache.removeImage(forKey: key, from: .disk, completion: nil)
            #expect(cache.diskEntry(forKey: key) == nil)
            cache.storeLater(Data([2, UInt8(round)]), key)
            #expect(cache.diskEntry(forKey: key)?.data == Data([2, UInt8(round)]))
            await cache.flush()
            #expect(cache.diskCache.data(forKey: key) == Data([2, UInt8(round)]))
            cache.removeImageFromDisk(forKey: key)
        }
    }
}

extension ImageCache {
    /// Stores bytes, without waiting.
    fileprivate func storeLater(_ data: Data, _ key: String) {
        store(ImageStoreRequest(key: key, data: data), completion: nil)
    }
}
