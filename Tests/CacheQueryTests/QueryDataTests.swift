import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading
@testable import WebImageModel

@Suite(.tags(.threadSanitizer)) struct QueryDataTests {
    private let disk = FakeDisk()
    private let coder = FakeCoder()
    private let key = "http://h/a.png"

    private var context: WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        return context
    }

    /// An image and bytes that state the same width.
    private func store(_ width: Int, in cache: ImageCache) {
        cache.store(
            FakeCoder.image(width: width),
            data: FakeCoder.data(width: UInt8(width)),
            forKey: key,
            to: .all,
            encodeOptions: ImageEncodeOptions(),
            completion: nil
        )
    }

    private func width(_ data: Data?) -> Int? { data.map { Int($0[$0.startIndex + 4]) } }

    @Test func `A memory query completes synchronously and reads no disk, also when bytes are requested`() async {
        let cache = disk.cache()
        store(5, in: cache)
        await cache.flush()
        let reads = disk.content.withLock { $0.reads.count }
        for options: WebImageOptions in [.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]] {
            let found = Lock<[ImageCacheResult]>([])
            cache.queryImage(forKey: key, options: options, context: context, cacheType: .memory) { result in
                found.withLock { $0.append(result) }
            }
            let results = found.withLock { $0 }
            #expect(results.count == 1 && results[0].image === cache.memoryImage(forKey: key))
            #expect(results.allSatisfy { $0.data == nil && $0.cacheType == .memory })
        }
        #expect(disk.content.withLock { $0.reads.count } == reads)
    }

    @Test func `On a memory hit the bytes are delivered if requested, and synchronously if that is requested`() async {
        let cache = disk.cache()
        store(5, in: cache)
        await cache.flush()
        let gate = Gate()
        disk.holdReads(gate)
        let found = Monitor<[ImageCacheResult]>([])
        cache.queryImage(forKey: key, context: context) { result in found.withLock { $0.append(result) } }
        #expect(found.withLock { $0.first?.image != nil && $0.first?.data == nil }, "not requested")
        cache.queryImage(forKey: key, options: .queryMemoryData, context: context) { result in
            found.withLock { $0.append(result) }
        }
        #expect(found.withLock { $0.count } == 1, "it is read on another thread")
        gate.open()
        let later = await found.value { $0.count == 2 ? $0[1] : nil }
        #expect(later?.image === cache.memoryImage(forKey: key))
        #expect(width(later?.data) == 5)
        #expect(later?.cacheType == .memory)
        cache.queryImage(forKey: key, options: [.queryMemoryData, .queryMemoryDataSync], context: context) { result in
            found.withLock { $0.append(result) }
        }
        let inTime = found.withLock { $0.count == 3 ? $0[2] : nil }
        #expect(inTime?.image === cache.memoryImage(forKey: key))
        #expect(width(inTime?.data) == 5)
        #expect(inTime?.cacheType == .memory)
        #expect(coder.decodeCount == 0)
    }

    @Test func `An image without an entry on disk is delivered without bytes`() async {
        let cache = disk.cache()
        cache.storeToMemory(FakeCoder.image(), forKey: key)
        let result = await cache.queryImage(forKey: key, options: .queryMemoryData, context: context)
        #expect(result.image != nil && result.data == nil && result.cacheType == .memory)
        // By itself the option applies to memory misses, not to hits.
        let miss = await cache.queryImage(forKey: "miss", options: .queryMemoryData, context: context)
        #expect(miss.image == nil && miss.cacheType == .none)
    }

    @Test func `A cancelled query delivers only an empty result`() async {
        let cache = disk.cache()
        store(5, in: cache)
        await cache.flush()
        let gate = Gate()
        disk.holdReads(gate)
        let found = Monitor<[ImageCacheResult]>([])
        let token = cache.queryImage(forKey: key, options: .queryMemoryData, context: context) { result in
            found.withLock { $0.append(result) }
        }
        #expect(await gate.arrivals())
        token.cancel()
        gate.open()
        _ = await cache.diskData(forKey: key)
        #expect(found.withLock { $0.map(\.cacheType) } == [.none])
    }

    @Test(arguments: ["store", "remove", "clear memory", "store data"])
    func `Image and bytes are from the same store, whatever is stored meanwhile`(change: String) async {
        let cache = disk.cache()
        store(5, in: cache)
        await cache.flush()
        let gate = Gate()
        disk.holdReads(gate)
        let found = Monitor<ImageCacheResult?>(nil)
        cache.queryImage(forKey: key, options: .queryMemoryData, context: context) { result in
            found.withLock { $0 = result }
        }
        #expect(await gate.arrivals())
        switch change {
        case "store": store(6, in: cache)
        case "store data": cache.storeDataToDisk(FakeCoder.data(width: 6), forKey: key)
        case "remove": cache.removeImage(forKey: key, from: .all, completion: nil)
        default: cache.clear(.memory, completion: nil)
        }
        gate.open()
        let result = await found.value { $0 }
        #expect(result?.image != nil, "a hit does not become a miss")
        if let data = result?.data, change != "store data" { #expect(result?.image?.pixelWidth == width(data)) }
        #expect(width(result?.data) == ["store": 6, "clear memory": 5, "store data": 6][change])
    }

    @Test(arguments: [false, true])
    func `An image stored meanwhile is delivered with the bytes of its store, and stays in memory`(isSync: Bool) async {
        let cache = disk.cache()
        store(5, in: cache)
        await cache.flush()
        // A caller may decode the bytes differently than a coder.
        let own = FakeCoder.image(width: 60)
        let storeOwn: @Sendable () -> Void = { [key] in
            let data = FakeCoder.data(width: 6)
            let options = ImageEncodeOptions()
            cache.store(own, data: data, forKey: key, to: .all, encodeOptions: options, completion: nil)
        }
        let gate = Gate()
        disk.holdReads(gate)
        let found = Monitor<ImageCacheResult?>(nil)
        let query: @Sendable () -> Void = { [context, key] in
            let options: WebImageOptions = isSync ? [.queryMemoryData, .queryMemoryDataSync] : .queryMemoryData
            cache.queryImage(forKey: key, options: options, context: context) { result in found.withLock { $0 = result }
            }
        }
        if isSync { startThread(query) } else { query() }
        #expect(await gate.arrivals())
        storeOwn()
        gate.open()
        let result = await found.value { $0 }
        #expect(result?.image === own && width(result?.data) == 6 && result?.cacheType == .memory)
        #expect(cache.memoryImage(forKey: key) === own && coder.decodeCount == 0)
    }

    @Test(arguments: [WebImageOptions.queryMemoryData, [.queryMemoryData, .queryMemoryDataSync]])
    func `An image known to be of other bytes is replaced by one of the entry's bytes`(options: WebImageOptions)
        async throws
    {
        let cache = disk.cache()
        let older = try coder.decode(FakeCoder.data(width: 5), options: ImageDecodeOptions())
        let image = older.with(sourceHash: FakeCoder.data(width: 5).contentHash, extendedData: nil)
        cache.storeDataToDisk(FakeCoder.data(width: 5), forKey: key)
        cache.storeToMemory(image, forKey: key)
        let same = await cache.queryImage(forKey: key, options: .queryMemoryData, context: context)
        #expect(same.image === image && width(same.data) == 5)
        cache.storeDataToDisk(FakeCoder.data(width: 6), forKey: key)
        let found = Monitor<ImageCacheResult?>(nil)
        cache.queryImage(forKey: key, options: options, context: context) { result in found.withLock { $0 = result } }
        let result = await found.value { $0 }
        #expect(result?.image?.pixelWidth == 6 && width(result?.data) == 6)
    }

    @Test func `During stores from another thread, image and bytes are never mixed`() async {
        let cache = disk.cache()
        store(1, in: cache)
        let isOver = Monitor(false)
        let stores = Monitor(0)
        startThread { [self] in
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                store(1 + number % 200, in: cache)
            }
            stores.withLock { $0 = number }
        }
        let left = Monitor(3000)
        for number in 0..<3000 {
            let options: WebImageOptions =
                number % 2 == 0 ? .queryMemoryData : [.queryMemoryData, .queryMemoryDataSync]
            cache.queryImage(forKey: key, options: options, context: context) { [self] result in
                #expect(result.image != nil)
                if let data = result.data { #expect(result.image?.pixelWidth == width(data)) }
                left.withLock { $0 -= 1 }
            }
        }
        #expect(await left.value(seconds: 60) { $0 == 0 ? true : nil } == true)
        isOver.withLock { $0 = true }
        #expect(await stores.value { $0 > 0 ? true : nil } == true)
    }
}
