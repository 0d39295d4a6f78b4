import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct ImageCacheQueryTests {
    let directory = TemporaryDirectory()
    let coder = FakeCoder()
    let key = "http://h/a.png"
    let data = FakeCoder.data()
    let cache: ImageCache

    init() {
        cache = ImageCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: ManualClock().source)
    }

    private func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        change(&context)
        return context
    }

    @Test func `A memory hit is delivered synchronously`() {
        let image = FakeCoder.image()
        cache.storeToMemory(image, forKey: key)
        let found = Lock<ImageCacheResult?>(nil)
        let token = cache.queryImage(forKey: key, context: context()) { result in found.withLock { $0 = result } }
        #expect(found.withLock { $0 }?.image === image)
        #expect(found.withLock { $0 }?.cacheType == .memory)
        #expect(found.withLock { $0 }?.data == nil)
        token.cancel()
        #expect(!token.isCancelled)
        #expect(token.key == key)
    }

    @Test func `A disk hit returns image, data and cache type, and fills memory`() async {
        cache.storeDataToDisk(data, forKey: key)
        let result = await cache.queryImage(forKey: key, context: context())
        #expect(result.image?.pixelWidth == 4)
        #expect(result.data == data)
        #expect(result.cacheType == .disk)
        #expect(cache.memoryImage(forKey: key) === result.image)
        #expect(await cache.queryImage(forKey: key, context: context()).cacheType == .memory)
        #expect(coder.decodeCount == 1)
    }

    @Test func `The bytes of an entry are returned whole and without decoding, and nil where there are none`() async {
        let (cache, key) = (cache, key)
        cache.storeDataToDisk(data, forKey: key, extendedData: Data([7]))
        for priority in [LoadPriority.low, .normal, .high] {
            let entry = await withCheckedContinuation { continuation in
                cache.queryDisk(forKey: key, priority: priority) { continuation.resume(returning: $0) }
            }
            #expect(entry == CachedImageData(data: data, extendedData: Data([7])))
        }
        #expect(await cache.diskData(forKey: key) == data)
        let missing = await withCheckedContinuation { continuation in
            cache.queryDisk(forKey: "missing", priority: .normal) { continuation.resume(returning: $0) }
        }
        #expect(missing == nil)
        let inTheCall = await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: [key, "missing"].map { cache.diskData(forKey: $0) }) }
        }
        #expect(inTheCall == [data, nil])
        #expect(coder.decodeCount == 0 && cache.memoryCache.count == 0)
    }

    @Test func `A miss has the cache type none`() async {
        for type in [ImageCacheType.none, .disk, .memory, .all] {
            let result = await cache.queryImage(forKey: key, context: context(), cacheType: type)
            #expect(result.image == nil)
            #expect(result.data == nil)
            #expect(result.cacheType == .none)
        }
    }

    @Test func `Only the requested levels are searched`() async {
        cache.storeDataToDisk(data, forKey: key)
        #expect(await cache.queryImage(forKey: key, context: context(), cacheType: .memory).image == nil)
        cache.storeToMemory(FakeCoder.image(width: 9), forKey: key)
        let disk = await cache.queryImage(forKey: key, context: context(), cacheType: .disk)
        #expect(disk.image?.pixelWidth == 4)
        #expect(disk.cacheType == .disk)
    }

    @Test func `Data that is not an image is returned without an image`() async {
        cache.storeDataToDisk(Data([1, 2, 3]), forKey: key)
        let result = await cache.queryImage(forKey: key, context: context())
        #expect(result.image == nil)
        #expect(result.data == Data([1, 2, 3]))
        #expect(result.cacheType == .disk)
        #expect(cache.memoryImage(forKey: key) == nil)
    }

    @Test func `A synchronous query returns a disk entry before the call returns`() {
        cache.storeDataToDisk(data, forKey: key)
        let types = Lock<[ImageCacheType]>([])
        for key in [key, "missing"] {
            let token = cache.queryImage(forKey: key, options: .queryDiskDataSync, context: context()) { result in
                types.withLock { $0.append(result.cacheType) }
            }
            token.cancel()
        }
        #expect(types.withLock { $0 } == [.disk, .none])
    }

    @Test func `An image that another query has decoded meanwhile is taken from memory and reported as such`() async {
        cache.storeDataToDisk(data, forKey: key)
        let image = FakeCoder.image()
        let gate = Latch()
        // All threads are blocked, so the image gets into memory after the query has searched there.
        for _ in 0..<4 { cache.diskQueue.submit { gate.wait() } }
        let found = Lock<ImageCacheResult?>(nil)
        let done = Latch()
        cache.queryImage(forKey: key, context: context()) { result in
            found.withLock { $0 = result }
            done.open()
        }
        cache.storeToMemory(image, forKey: key)
        gate.open()
        #expect(await done.opens())
        #expect(found.withLock { $0 }?.image === image)
        #expect(found.withLock { $0 }?.cacheType == .memory)
        #expect(coder.decodeCount == 0)
    }

    // MARK: Cancelling

    @Test func `Cancelling delivers an empty result at once, and nothing after it`() async {
        cache.storeDataToDisk(data, forKey: key)
        let gate = Latch()
        coder.hold(gate)
        let results = Lock<[ImageCacheResult]>([])
        let token = cache.queryImage(forKey: key, context: context()) { result in results.withLock { $0.append(result) }
        }
        token.cancel()
        #expect(results.withLock { $0.count } == 1)
        #expect(results.withLock { $0.first }?.cacheType == ImageCacheType.none)
        #expect(token.isCancelled)
        token.cancel()
        gate.open()
        _ = await wait { done in cache.queryImage(forKey: key, context: context()) { done($0) } }
        #expect(results.withLock { $0.count } == 1)
    }

    @Test func `A query cancelled before it started reads nothing`() async {
        cache.storeDataToDisk(data, forKey: key)
        let gate = Latch()
        for _ in 0..<4 { cache.diskQueue.submit { gate.wait() } }
        let hits = cache.diskStatistics.hitCount
        let count = Lock(0)
        for _ in 0..<10 {
            cache.queryImage(forKey: key, context: context()) { _ in count.withLock { $0 += 1 } }.cancel()
            cache.queryDisk(forKey: key, priority: .normal) { entry in
                #expect(entry == nil)
                count.withLock { $0 += 1 }
            }.cancel()
        }
        #expect(count.withLock { $0 } == 20)
        gate.open()
        _ = await wait { done in cache.queryDisk(forKey: "other", priority: .low) { done($0 == nil) } }
        #expect(cache.diskStatistics.hitCount == hits)
        #expect(coder.decodeCount == 0)
    }

    @Test func `A cancelled task gets an empty result`() async {
        cache.storeDataToDisk(data, forKey: key)
        let gate = Latch()
        for _ in 0..<4 { cache.diskQueue.submit { gate.wait() } }
        let context = context()
        let task = Task { await cache.queryImage(forKey: key, context: context) }
        task.cancel()
        let result = await task.value
        #expect(result.image == nil)
        gate.open()
    }

    @Test func `Ten thousand queries cancelled at random complete once each`() async {
        for number in 0..<20 { cache.storeDataToDisk(data, forKey: "\(number)") }
        let counts = Lock([Int](repeating: 0, count: 10_000))
        let left = Lock(10_000)
        let done = Latch()
        var random = SeededGenerator(seed: 1)
        for index in 0..<10_000 {
            let token = cache.queryImage(forKey: "\(index % 25)", context: context()) { _ in
                counts.withLock { $0[index] += 1 }
                if countDown(left) { done.open() }
            }
            if Bool.random(using: &random) { token.cancel() }
            if index % 100 == 0 { cache.memoryCache.removeAll() }
        }
        #expect(await done.opens(seconds: 60))
        let all = counts.withLock { $0 }
        #expect(all.allSatisfy { $0 == 1 })
    }

    // MARK: Options

    @Test func `Decode options are taken from context, options and key`() {
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 10, height: 20)
        context.preserveAspectRatio = false
        context.scaleDownLimitBytes = 77
        var base = ImageDecodeOptions()
        base.scalingQuality = .fast
        base.limits.maximumFrameCount = 3
        context.decodeOptions = base
        let options = ImageDecodeOptions(context, options: .decodeFirstFrameOnly, key: "http://h/a@2x.png")
        #expect(options.thumbnailPixelSize == ImageSize(width: 10, height: 20))
        #expect(!options.preserveAspectRatio)
        #expect(options.scaleDownLimitBytes == 77)
        #expect(options.decodeFirstFrameOnly)
        #expect(options.scaleFactor == 2)
        #expect(options.scalingQuality == .fast)
        #expect(options.limits.maximumFrameCount == 3)
        context.imageScaleFactor = 3
        #expect(ImageDecodeOptions(context, options: [], key: "http://h/a@2x.png").scaleFactor == 3)
        context.imageScaleFactor = 0.5
        #expect(ImageDecodeOptions(context, options: [], key: "http://h/a@2x.png").scaleFactor == 2)
        let plain = ImageDecodeOptions(WebImageContext(), options: [], key: "http://h/a.png")
        #expect(plain == ImageDecodeOptions())
        let limited = ImageDecodeOptions(WebImageContext(), options: .scaleDownLargeImages, key: "a")
        #expect(limited.scaleDownLimitBytes == ImageDecodeOptions.defaultScaleDownLimitBytes)
    }

    @Test func `A thumbnail is cached in memory only under its own key`() async {
        cache.storeDataToDisk(data, forKey: key)
        let context = context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 2) }
        let result = await cache.queryImage(forKey: key, context: context)
        #expect(result.image?.pixelWidth == 2)
        #expect(cache.memoryImage(forKey: key) == nil)
        let thumbnailKey = CacheKeys.thumbnail(key, size: ImageSize(width: 2, height: 2), preserveAspectRatio: true)
        #expect(cache.memoryImage(forKey: thumbnailKey) === result.image)
        // A key that already names a thumbnail is used unchanged.
        cache.storeDataToDisk(data, forKey: thumbnailKey)
        cache.memoryCache.removeAll()
        let again = await cache.queryImage(forKey: thumbnailKey, context: context)
        #expect(cache.memoryImage(forKey: thumbnailKey) === again.image)
        #expect(cache.memoryCache.count == 1)
    }

    @Test func `An image scaled down by a byte limit is never returned as the full-size one`() async {
        cache.storeDataToDisk(FakeCoder.data(width: 100, height: 100), forKey: key)
        let limited = context { $0.scaleDownLimitBytes = 1000 }
        #expect(await cache.queryImage(forKey: key, context: limited).image?.pixelWidth == 1)
        #expect(cache.memoryImage(forKey: key) == nil)
        let roomy = context { $0.scaleDownLimitBytes = 100_000 }
        #expect(await cache.queryImage(forKey: key, context: roomy).image?.pixelWidth == 100)
        #expect(cache.memoryImage(forKey: key) != nil)
    }

    @Test func `decodeFirstFrameOnly returns a still image and leaves the cached animation`() async {
        cache.storeDataToDisk(FakeCoder.data(frames: 5), forKey: key)
        let still = await cache.queryImage(forKey: key, options: .decodeFirstFrameOnly, context: context())
        #expect(still.image != nil)
        #expect(cache.memoryImage(forKey: key) == nil)
        let animation = await cache.queryImage(forKey: key, context: context())
        #expect(animation.image?.metadata.frameCount == 5)
        let again = await cache.queryImage(forKey: key, options: .decodeFirstFrameOnly, context: context())
        #expect(again.cacheType == .memory)
        #expect(again.image?.metadata.frameCount == 1)
        #expect(again.image?.metadata.loopCount == 0)
        #expect(cache.memoryImage(forKey: key) === animation.image)
    }

    @Test func `A store type without memory keeps decoded images out of memory`() async {
        cache.storeDataToDisk(data, forKey: key)
        for type in [ImageCacheType.disk, .none] {
            let result = await cache.queryImage(forKey: key, context: context { $0.storeCacheType = type })
            #expect(result.image != nil)
            #expect(cache.memoryImage(forKey: key) == nil)
        }
    }

    @Test func `The synchronous getters search the levels in their names`() {
        #expect(cache.image(forKey: key, context: context()) == nil)
        cache.storeDataToDisk(data, forKey: key)
        #expect(cache.imageFromMemory(forKey: key) == nil)
        #expect(cache.imageFromDisk(forKey: key, context: context()) != nil)
        #expect(cache.imageFromMemory(forKey: key) != nil)
        #expect(cache.image(forKey: key, context: context()) === cache.memoryImage(forKey: key))
        // The one for disk does not search memory.
        #expect(cache.imageFromDisk(forKey: key, context: context()) != nil)
        #expect(coder.decodeCount == 2)
    }

    @Test(arguments: ["store", "store data", "remove", "clear"])
    func `An image read before a change does not get into memory after it`(change: String) async {
        cache.storeDataToDisk(data, forKey: key)
        let gate = Latch()
        coder.hold(gate)
        let result = Lock<ImageCacheResult?>(nil)
        let done = Latch()
        cache.queryImage(forKey: key, context: context()) { value in
            result.withLock { $0 = value }
            done.open()
        }
        await wait(while: coder.decodeCount == 0)
        let newer = FakeCoder.image()
        let options = ImageEncodeOptions()
        switch change {
        case "store": cache.store(newer, data: data, forKey: key, to: .all, encodeOptions: options, completion: nil)
        case "store data": cache.store(nil, data: data, forKey: key, to: .disk, encodeOptions: options, completion: nil)
        case "remove": cache.removeImage(forKey: key, from: .all, completion: nil)
        default: cache.clear(.all, completion: nil)
        }
        gate.open()
        #expect(await done.opens())
        #expect(result.withLock { $0?.image } != nil)
        #expect(cache.memoryImage(forKey: key) === (change == "store" ? newer : nil))
    }

    // MARK: Names that look like keys

    @Test func `A file whose own name ends like the key of a page has its pages, and the page has its own`() async {
        let paged = context { $0.imageCoder = PagedCoder() }
        func page(_ number: Int) -> WebImageContext {
            var copy = paged
            copy.page = number
            return copy
        }
        for name in ["http://h/photo-Page(3).pdf", "http://h/photo-Page(3)", "http://h/photo-Page(3)-b.pdf"] {
            cache.storeDataToDisk(Data([5]), forKey: name)
            for number in [2, 3, 0] {
                cache.memoryCache.removeAll()
                let image = await cache.queryImage(forKey: name, context: page(number)).image
                #expect(image?.pixelWidth == number + 1)
                #expect(cache.memoryImage(forKey: CacheKeys.page(name, number)) === image)
                #expect(cache.memoryCache.count == 1)
            }
            // Stored entries of pages contain only one.
            for number in [2, 3] {
                let key = CacheKeys.page(name, number)
                cache.storeDataToDisk(Data([1]), forKey: key)
                cache.memoryCache.removeAll()
                let image = await cache.queryImage(forKey: key, context: page(number)).image
                #expect(image?.pixelWidth == 1 && cache.memoryImage(forKey: key) === image)
            }
        }
        cache.storeDataToDisk(Data([1]), forKey: "http://h/photo-Page(3).pdf")
        #expect(await cache.queryImage(forKey: "http://h/photo-Page(3).pdf", context: page(2)).image == nil)
    }

    @Test func `A file whose own name looks like the key of a thumbnail is not replaced by its thumbnail`() async {
        let size = ImageSize(width: 2, height: 2)
        let small = context { $0.thumbnailPixelSize = size }
        let other = CacheKeys.thumbnail(key, size: ImageSize(width: 3, height: 3), preserveAspectRatio: true)
        for name in ["http://h/a-Thumbnail(1).png", other] {
            cache.memoryCache.removeAll()
            cache.storeDataToDisk(data, forKey: name)
            let image = await cache.queryImage(forKey: name, context: small).image
            #expect(image?.pixelWidth == 2 && cache.memoryImage(forKey: name) == nil)
            let own = CacheKeys.thumbnail(name, size: size, preserveAspectRatio: true)
            #expect(cache.memoryImage(forKey: own) === image)
        }
    }
}

/// Files of as many pages as their byte says. A page is as wide as its number, counted from 1.
private struct PagedCoder: ImageCoder {
    func canDecode(_ data: Data) -> Bool { data.count == 1 }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        var properties = ImageProperties(format: .pdf, width: 1, height: 1)
        properties.pageCount = Int(data[data.startIndex])
        return properties
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let count = try properties(of: data, limits: options.limits).pageCount
        guard options.page < count else { throw .pageNotFound(options.page, of: count) }
        return FakeCoder.image(width: options.page + 1)
    }

    func canEncode(to format: ImageFormat) -> Bool { false }

    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "pages are not encoded")
    }
}
