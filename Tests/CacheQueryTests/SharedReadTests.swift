import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct SharedReadTests {
    private let disk = FakeDisk()
    private let coder = FakeCoder()
    private let key = "http://h/a.png"

    private func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        change(&context)
        return context
    }

    /// Results of queries, in order of delivery.
    private final class Results: Sendable {
        let list = Monitor<[ImageCacheResult]>([])
        func add(_ result: ImageCacheResult) { list.withLock { $0.append(result) } }
        func wait(_ count: Int) async -> [ImageCacheResult] { await list.value { $0.count >= count ? $0 : nil } ?? [] }
    }

    @Test func `Many queries of one key read and decode once`() async {
        let cache = disk.cache()
        cache.storeDataToDisk(FakeCoder.data(), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let results = Results()
        for _ in 0..<1000 { cache.queryImage(forKey: key, context: context(), completion: results.add) }
        async let data = cache.diskData(forKey: key)
        gate.open()
        let images = await results.wait(1000)
        #expect(images.allSatisfy { $0.image === images[0].image && $0.data == FakeCoder.data() })
        #expect(images.allSatisfy { $0.cacheType == .disk })
        #expect(await data == FakeCoder.data())
        // The last one may have started after the read.
        #expect(disk.readCount <= 2)
        #expect(coder.decodeCount == 1)
    }

    @Test func `A query and a load of one key share the read`() async throws {
        let cache = disk.cache()
        cache.storeDataToDisk(FakeCoder.data(), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let loader = FakeLoader()
        let manager = WebImageManager(cache: cache, loader: loader)
        let results = Results()
        cache.queryImage(forKey: key, context: context(), cacheType: .disk, completion: results.add)
        #expect(await gate.arrivals())
        let loaded = Monitor<WebImageResult?>(nil)
        let url = try #require(URL(string: key))
        manager.loadImage(with: url, context: context { $0.storeCacheType = ImageCacheType.none }) { result in
            loaded.withLock { $0 = try? result.get() }
        }
        cache.queryImage(forKey: key, context: context(), completion: results.add)
        gate.open()
        #expect(await loaded.value { $0 }?.cacheType == .disk)
        #expect(await results.wait(2).allSatisfy { $0.data == FakeCoder.data() })
        #expect(disk.readCount == 1 && loader.loads.isEmpty)
    }

    @Test(arguments: ["query", "load"])
    func `A load started after a store does not share an earlier read`(earlier: String) async throws {
        let cache = disk.cache()
        cache.storeDataToDisk(FakeCoder.data(width: 1), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let manager = WebImageManager(cache: cache, loader: FakeLoader())
        let url = try #require(URL(string: key))
        let (before, after) = (Monitor<Int?>(nil), Monitor<Int?>(nil))
        if earlier == "query" {
            cache.queryImage(forKey: key, context: context(), cacheType: .disk) { result in
                before.withLock { $0 = result.image?.pixelWidth }
            }
        } else {
            manager.loadImage(with: url, options: .fromCacheOnly, context: context()) { result in
                before.withLock { $0 = try? result.get().image.pixelWidth }
            }
        }
        #expect(await gate.arrivals())
        disk.holdReads(nil)
        cache.storeDataToDisk(FakeCoder.data(width: 2), forKey: key)
        manager.loadImage(with: url, context: context()) { result in
            after.withLock { $0 = try? result.get().image.pixelWidth }
        }
        #expect(await after.value { $0 } == 2)
        gate.open()
        #expect(await before.value { $0 } == 1)
    }

    @Test func `Queries for different images of the same bytes share only the read`() async {
        let cache = disk.cache()
        cache.storeDataToDisk(FakeCoder.data(), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let results = Results()
        let other = FakeCoder()
        cache.queryImage(forKey: key, context: context(), cacheType: .disk, completion: results.add)
        cache.queryImage(
            forKey: key,
            context: context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 2) },
            cacheType: .disk,
            completion: results.add
        )
        cache.queryImage(
            forKey: key,
            context: context { $0.imageCoder = other },
            cacheType: .disk,
            completion: results.add
        )
        gate.open()
        #expect(await results.wait(3).count == 3)
        #expect(disk.readCount == 1)
        #expect(coder.decodeCount == 2 && other.decodeCount == 1)
    }

    @Test(arguments: ["store", "remove", "clear", "synchronous store"])
    func `A query started after a store does not join an earlier read`(change: String) async {
        let cache = disk.cache()
        let (old, new) = (FakeCoder.data(width: 1), FakeCoder.data(width: 2))
        cache.storeDataToDisk(old, forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let (before, after) = (Results(), Results())
        cache.queryImage(forKey: key, context: context(), completion: before.add)
        #expect(await gate.arrivals())
        disk.holdReads(nil)
        var expected: Data? = new
        switch change {
        case "store":
            cache.store(nil, data: new, forKey: key, to: .all, encodeOptions: ImageEncodeOptions(), completion: nil)
        case "synchronous store":
            cache.storeDataToDisk(new, forKey: key)
        case "remove":
            cache.removeImage(forKey: key, from: .all, completion: nil)
            expected = nil
        default:
            cache.clear(.all, completion: nil)
            expected = nil
        }
        cache.queryImage(forKey: key, context: context(), completion: after.add)
        #expect(await after.wait(1).first?.data == expected)
        gate.open()
        // An image that the later query has put into memory is accepted, too, but not as an image of the old bytes.
        let first = await before.wait(1).first
        #expect(first?.data == (first?.cacheType == .memory ? nil : old))
        await cache.flush()
    }

    @Test func `A query of disk only is never answered from memory`() async {
        let cache = disk.cache()
        cache.storeDataToDisk(FakeCoder.data(), forKey: key)
        let gate = Gate()
        disk.holdReads(gate)
        let (both, alone) = (Results(), Results())
        for _ in 0..<3 {
            cache.queryImage(forKey: key, context: context(), completion: both.add)
            cache.queryImage(forKey: key, context: context(), cacheType: .disk, completion: alone.add)
        }
        let image = FakeCoder.image(width: 9)
        cache.storeToMemory(image, forKey: key)
        gate.open()
        #expect(await both.wait(3).allSatisfy { $0.image === image && $0.cacheType == .memory && $0.data == nil })
        #expect(await alone.wait(3).allSatisfy { $0.image?.pixelWidth == 4 && $0.cacheType == .disk })
        #expect(disk.readCount == 1)
        #expect(coder.decodeCount == 1)
    }

    @Test func `When one of two sharing queries is cancelled, the other gets its image`() async {
        let cache = disk.cache()
        cache.storeDataToDisk(FakeCoder.data(), forKey: key)
        for leaver in 0..<2 {
            cache.memoryCache.removeAll()
            let gate = Gate()
            disk.holdReads(gate)
            let results = [Results(), Results()]
            let tokens = results.map { cache.queryImage(forKey: key, context: context(), completion: $0.add) }
            let others = [Results(), Results()]
            let small = context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 2) }
            let queries = others.map {
                cache.queryImage(forKey: key, context: small, cacheType: .disk, completion: $0.add)
            }
            #expect(await gate.arrivals())
            tokens[leaver].cancel()
            queries[leaver].cancel()
            for results in [results, others] {
                #expect(await results[leaver].wait(1).first?.cacheType == ImageCacheType.none)
            }
            gate.open()
            for results in [results, others] {
                #expect(await results[1 - leaver].wait(1).first?.data == FakeCoder.data())
                #expect(results[leaver].list.withLock { $0.count } == 1)
            }
        }
        #expect(disk.readCount == 2)
    }

    @Test func `When all have cancelled nothing is decoded, and a read that has not begun is skipped`() async {
        let cache = disk.cache { $0.maxConcurrentDiskOperations = 1 }
        for key in ["a", "b"] { cache.storeDataToDisk(FakeCoder.data(), forKey: key) }
        let gate = Gate()
        disk.holdReads(gate)
        let tokens = ["a", "b"].map { cache.queryImage(forKey: $0, context: context()) { _ in } }
        #expect(await gate.arrivals())
        for token in tokens { token.cancel() }
        gate.open()
        _ = await cache.diskData(forKey: "end")
        #expect(disk.content.withLock { $0.reads } == ["a", "end"])
        #expect(coder.decodeCount == 0)
    }

    @Test func `A later query of high priority moves the shared read forward`() async {
        let cache = disk.cache { $0.maxConcurrentDiskOperations = 1 }
        let gate = Gate()
        cache.diskQueue.submit { gate.wait() }
        #expect(await gate.arrivals())
        let left = Monitor(6)
        let end: @Sendable (ImageCacheResult) -> Void = { _ in left.withLock { $0 -= 1 } }
        for key in ["a", "b", "c", "d"] { cache.queryImage(forKey: key, context: context(), completion: end) }
        cache.queryImage(forKey: "c", options: .highPriority, context: context(), completion: end)
        // A cancelled one does not count any more.
        let small = context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 2) }
        cache.queryImage(forKey: "d", options: .highPriority, context: small, completion: end).cancel()
        gate.open()
        #expect(await left.value { $0 == 0 ? true : nil } == true)
        #expect(disk.content.withLock { $0.reads } == ["c", "a", "b", "d"])
    }

    @Test
    func `Ten thousand random queries complete once each, with bytes of a state between call and end`()
        async
    {
        let directory = TemporaryDirectory()
        let cache = ImageCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: .system)
        let keys = (0..<6).map { "http://h/\($0).png" }
        // The versions that each key's stores have begun and ended with. A query may see any version between the last
        // that had ended when it was called and the last that had begun when it completed.
        let begun = Lock([Int](repeating: 0, count: keys.count))
        let left = Monitor(10_000)
        let counts = Lock([Int](repeating: 0, count: 10_000))
        var ended = [Int](repeating: 0, count: keys.count)
        var random = SeededGenerator(seed: 12)
        let context = context()
        for index in 0..<10_000 {
            let place = Int.random(in: 0..<keys.count, using: &random)
            let key = keys[place]
            if index % 5 == 0 {
                let version = begun.withLock { begun in
                    begun[place] += 1
                    return begun[place]
                }
                let data = FakeCoder.data(tail: [UInt8(version & 255), UInt8(version >> 8)])
                cache.store(
                    nil,
                    data: data,
                    forKey: key,
                    to: .disk,
                    encodeOptions: ImageEncodeOptions(),
                    completion: nil
                )
                ended[place] = version
            }
            let atCall = ended[place]
            let isCancelled = Int.random(in: 0..<4, using: &random) == 0
            let finish: @Sendable (Data?) -> Void = { data in
                let latest = begun.withLock { $0[place] }
                if let tail = data?.suffix(2), tail.count == 2, let low = tail.first, let high = tail.last {
                    let version = Int(low) | Int(high) << 8
                    #expect(version >= atCall && version <= latest)
                } else {
                    #expect(isCancelled || atCall == 0)
                }
                counts.withLock { $0[index] += 1 }
                left.withLock { $0 -= 1 }
            }
            let operation: any WebImageOperation =
                index % 2 == 0
                ? cache.queryDisk(forKey: key, priority: .normal) { finish($0?.data) }
                : cache.queryImage(forKey: key, context: context, cacheType: .disk) { finish($0.data) }
            if isCancelled { operation.cancel() }
        }
        #expect(await left.value(seconds: 60) { $0 == 0 ? true : nil } == true)
        #expect(counts.withLock { $0 }.allSatisfy { $0 == 1 })
    }

    @Test func `Removing removes from memory, whatever the configuration says`() async {
        let cache = disk.cache { $0.shouldCacheImagesInMemory = false }
        for type in [ImageCacheType.memory, .all] {
            cache.storeToMemory(FakeCoder.image(), forKey: key)
            await cache.removeImage(forKey: key, from: type)
            #expect(cache.memoryImage(forKey: key) == nil)
            cache.storeToMemory(FakeCoder.image(), forKey: key)
            await cache.clear(type)
            #expect(cache.memoryImage(forKey: key) == nil)
        }
    }
}

@Suite(.tags(.threadSanitizer)) struct GenerationsTests {
    @Test func `A generation is current until a change happens or is about to`() {
        var generations = Generations()
        let first = generations.generation(of: "a")
        #expect(generations.isCurrent(first, of: "a"))
        generations.begin("a")
        #expect(!generations.isCurrent(first, of: "a"))
        #expect(!generations.isCurrent(generations.generation(of: "a"), of: "a"), "memory and disk may differ")
        generations.begin("a")
        generations.end("a")
        #expect(!generations.generation(of: "a").isSettled)
        generations.end("a")
        #expect(!generations.isCurrent(first, of: "a"))
        let after = generations.generation(of: "a")
        #expect(generations.isCurrent(after, of: "a"))
        generations.change("a")
        #expect(!generations.isCurrent(after, of: "a"))
    }

    @Test func `A change of all keys ends the generation of each`() {
        var generations = Generations()
        let first = generations.generation(of: "a")
        generations.begin(nil)
        #expect(!generations.generation(of: "b").isSettled)
        generations.end(nil)
        #expect(!generations.isCurrent(first, of: "a"))
        #expect(generations.generation(of: "b").isSettled)
    }

    @Test func `Coders are compared by identity, and by their state if they have any`() {
        struct Stateful: ImageCoder {
            var quality: Int
            func canDecode(_ data: Data) -> Bool { false }
            func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
                throw WebImageError(.badImageData, "never")
            }
            func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
                throw WebImageError(.badImageData, "never")
            }
            func canEncode(to format: ImageFormat) -> Bool { false }
            func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError)
                -> Data
            { Data() }
        }
        let fake = FakeCoder()
        #expect(CoderIdentity(fake) == CoderIdentity(fake))
        #expect(CoderIdentity(fake) != CoderIdentity(FakeCoder()))
        #expect(CoderIdentity(JPEGCoder()) == CoderIdentity(JPEGCoder()))
        #expect(CoderIdentity(JPEGCoder()) != CoderIdentity(PNGCoder()))
        let stateful = Stateful(quality: 1)
        #expect(CoderIdentity(stateful) != CoderIdentity(stateful))
    }
}
