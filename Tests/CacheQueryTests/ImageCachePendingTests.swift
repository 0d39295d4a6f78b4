import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct ImageCachePendingTests {
    let directory = TemporaryDirectory()
    let coder = FakeCoder()
    let key = "http://h/a.png"
    let data = FakeCoder.data()

    private func make(_ change: (inout ImageCacheConfig) -> Void = { _ in }) -> ImageCache {
        var config = ImageCacheConfig()
        change(&config)
        return ImageCache(path: directory.path("cache"), config: config, clock: ManualClock().source)
    }

    /// Blocks all threads of the cache's disk queue until the latch opens.
    private func hold(_ cache: ImageCache) -> Latch {
        let gate = Latch()
        for _ in 0..<cache.diskQueue.width { cache.diskQueue.submit(priority: .high) { gate.wait() } }
        return gate
    }

    private func store(_ data: Data, _ key: String, in cache: ImageCache, done: (@Sendable () -> Void)? = nil) {
        cache.store(nil, data: data, forKey: key, to: .disk, encodeOptions: ImageEncodeOptions(), completion: done)
    }

    @Test func `A pending write is visible to every read`() {
        let cache = make()
        let gate = hold(cache)
        store(data, key, in: cache)
        #expect(!cache.diskCache.containsData(forKey: key))
        #expect(cache.diskEntry(forKey: key)?.data == data)
        #expect(cache.diskDataExists(forKey: key))
        var context = WebImageContext()
        context.imageCoder = coder
        #expect(cache.imageFromDisk(forKey: key, context: context) != nil)
        store(Data([2]), key, in: cache)
        #expect(cache.diskEntry(forKey: key)?.data == Data([2]))
        gate.open()
        #expect(cache.prepareForExit(within: 20))
        #expect(cache.diskCache.data(forKey: key) == Data([2]))
        #expect(cache.diskStatistics.storeCount == 1)
    }

    @Test func `A pending removal hides the entry`() {
        let cache = make()
        cache.storeDataToDisk(data, forKey: key)
        let gate = hold(cache)
        cache.removeImage(forKey: key, from: .disk, completion: nil)
        #expect(cache.diskEntry(forKey: key)?.data == nil)
        #expect(!cache.diskDataExists(forKey: key))
        store(Data([3]), key, in: cache)
        #expect(cache.diskEntry(forKey: key)?.data == Data([3]))
        gate.open()
        #expect(cache.prepareForExit(within: 20))
        #expect(cache.diskCache.data(forKey: key) == Data([3]))
    }

    @Test func `A clear hides everything before it and nothing after it`() async {
        let cache = make()
        cache.storeDataToDisk(data, forKey: "before")
        let gate = hold(cache)
        store(data, "waiting", in: cache)
        let isCleared = Lock(false)
        let (clears, clear) = AsyncStream<Void>.makeStream()
        cache.clear(.all) {
            isCleared.withLock { $0 = true }
            clear.finish()
        }
        store(data, "after", in: cache)
        #expect(cache.diskEntry(forKey: "before")?.data == nil)
        #expect(cache.diskEntry(forKey: "waiting")?.data == nil)
        #expect(cache.diskEntry(forKey: "after")?.data == data)
        #expect(!isCleared.withLock { $0 })
        gate.open()
        for await _ in clears {}
        #expect(isCleared.withLock { $0 })
        // Another thread may still be writing.
        await cache.flush()
        #expect(cache.diskCache.entries().map(\.key) == ["after"])
    }

    @Test func `An image waiting to be encoded is visible as bytes`() async {
        let cache = make()
        let gate = Latch()
        coder.hold(gate)
        let image = FakeCoder.image()
        cache.store(
            image,
            data: nil,
            forKey: key,
            to: .disk,
            encodeOptions: ImageEncodeOptions(),
            coder: coder,
            completion: nil
        )
        #expect(cache.diskDataExists(forKey: key))
        gate.open()
        #expect(cache.diskEntry(forKey: key)?.data == FakeCoder.data())
        await cache.flush()
        #expect(cache.diskCache.data(forKey: key) == FakeCoder.data())
    }

    @Test func `Encoding does not block reads`() async {
        let cache = make()
        cache.storeDataToDisk(data, forKey: "other")
        let gate = Latch()
        coder.hold(gate)
        for number in 0..<20 {
            cache.store(
                FakeCoder.image(),
                data: nil,
                forKey: "\(number)",
                to: .disk,
                encodeOptions: ImageEncodeOptions(),
                coder: coder,
                completion: nil
            )
        }
        let found = await wait { done in cache.queryDisk(forKey: "other", priority: .normal) { done($0?.data) } }
        #expect(found == data)
        gate.open()
        await cache.flush()
        #expect(cache.totalDiskCount == 21)
    }

    @Test func `Synchronous forms have finished when they return, whatever is pending`() {
        let cache = make()
        let gate = hold(cache)
        store(data, key, in: cache)
        cache.storeDataToDisk(Data([5]), forKey: key)
        #expect(cache.diskCache.data(forKey: key) == Data([5]))
        cache.clear(.disk, completion: nil)
        cache.storeDataToDisk(Data([6]), forKey: key)
        #expect(cache.diskCache.data(forKey: key) == Data([6]))
        cache.removeImageFromDisk(forKey: key)
        #expect(cache.diskCache.data(forKey: key) == nil)
        gate.open()
    }

    @Test func `Synchronous forms in completions do not deadlock`() async {
        let cache = make { $0.maxConcurrentDiskOperations = 2 }
        let left = Lock(200)
        let done = Latch()
        for number in 0..<200 {
            store(data, "\(number % 7)", in: cache) {
                cache.storeDataToDisk(Data([1]), forKey: "\(number % 5)")
                cache.removeImageFromDisk(forKey: "\(number % 3)")
                _ = cache.diskData(forKey: "\(number % 7)")
                if countDown(left) { done.open() }
            }
            if number % 20 == 0 {
                cache.clear(.disk) { cache.storeDataToDisk(Data([2]), forKey: "from clear") }
            }
        }
        #expect(await done.opens(seconds: 60))
        #expect(cache.prepareForExit(within: 60))
        #expect(cache.diskCache.verify() == [])
    }

    @Test func `A synchronous form on the cache's only thread does not wait for a clear that waits for another thread`()
        async
    {
        for round in 0..<20 {
            let cache = make { $0.maxConcurrentDiskOperations = 1 }
            let gate = Latch()
            coder.hold(gate)
            cache.store(
                FakeCoder.image(),
                data: nil,
                forKey: "encoded",
                to: .disk,
                encodeOptions: ImageEncodeOptions(),
                coder: coder,
                completion: nil
            )
            await wait(while: coder.encodeCount <= round)
            cache.clear(.disk, completion: nil)
            let done = Latch()
            cache.diskQueue.submit {
                cache.storeDataToDisk(Data([1]), forKey: "b")
                done.open()
            }
            await wait(while: cache.diskEntry(forKey: "b") == nil)
            gate.open()
            guard await done.opens(seconds: 10) else {
                #expect(Bool(false), "the clear waits for the thread that waits for the clear")
                return
            }
            #expect(cache.prepareForExit(within: 20))
            #expect(cache.diskCache.entries().map(\.key) == ["b"])
        }
    }

    @Test func `Keys that are canonically equivalent but differ in bytes have separate entries`() {
        let cache = make()
        let gate = hold(cache)
        store(Data([1]), "caf\u{e9}", in: cache)
        store(Data([2]), "cafe\u{301}", in: cache)
        #expect(cache.diskEntry(forKey: "caf\u{e9}")?.data == Data([1]))
        gate.open()
        #expect(cache.prepareForExit(within: 20))
        #expect(cache.diskCache.data(forKey: "caf\u{e9}") == Data([1]))
        #expect(cache.diskCache.data(forKey: "cafe\u{301}") == Data([2]))
    }

    @Test func `The write-behind queue is bounded; a dropped write completes and is a miss`() async {
        let cache = make { $0.maxPendingWriteBytes = 100_000 }
        cache.storeDataToDisk(data, forKey: "0")
        let gate = hold(cache)
        let completed = Lock(0)
        let allCompleted = Latch()
        for number in 0..<100 {
            store(Data(repeating: UInt8(number), count: 10_000), "\(number)", in: cache) {
                let count = completed.withLock { count -> Int in
                    count += 1
                    return count
                }
                if count == 100 { allCompleted.open() }
            }
            #expect(cache.writes.withLock { $0.waitingCost } <= 100_000)
        }
        #expect(cache.droppedWriteCount == 90)
        // The old bytes of a key whose new ones were dropped are not returned either.
        #expect(cache.diskEntry(forKey: "0")?.data == nil)
        #expect(cache.diskEntry(forKey: "99")?.data == Data(repeating: 99, count: 10_000))
        gate.open()
        await cache.flush()
        // The last write is on disk before its completion is called.
        #expect(await allCompleted.opens())
        #expect(completed.withLock { $0 } == 100)
        #expect(cache.totalDiskCount == 10)
    }

    @Test func `Random calls from one thread take effect in their order`() {
        let cache = make()
        var model: [String: Data] = [:]
        var random = SeededGenerator(seed: 8)
        for step in 0..<3000 {
            let key = "\(Int.random(in: 0..<12, using: &random))"
            let value = Data("\(step)".utf8)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                store(value, key, in: cache)
                model[key] = value
            case 6:
                cache.storeDataToDisk(value, forKey: key)
                model[key] = value
            case 7, 8:
                cache.removeImage(forKey: key, from: .disk, completion: nil)
                model[key] = nil
            case 9:
                cache.removeImageFromDisk(forKey: key)
                model[key] = nil
            case 10 where step % 10 == 0:
                cache.clear(.disk, completion: nil)
                model = [:]
            case 11: #expect(cache.diskDataExists(forKey: key) == (model[key] != nil))
            default: #expect(cache.diskEntry(forKey: key)?.data == model[key])
            }
        }
        #expect(cache.prepareForExit(within: 60))
        #expect(Set(cache.diskCache.entries().map(\.key)) == Set(model.keys))
        for (key, value) in model { #expect(cache.diskCache.data(forKey: key) == value) }
    }
}
