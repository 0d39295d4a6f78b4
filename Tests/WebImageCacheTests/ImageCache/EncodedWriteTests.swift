import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct EncodedWriteTests {
    private let disk = FakeDisk()
    private let coder = FakeCoder()

    private func store(_ key: String, in cache: ImageCache, completion: (@Sendable () -> Void)? = nil) {
        var request = ImageStoreRequest(key: key, image: FakeCoder.image())
        request.cacheType = .disk
        request.coder = coder
        cache.store(request, completion: completion)
    }

    @Test func `Encoded images are written by the cache's threads`() async {
        let cache = disk.cache(coder: nil)
        for number in 0..<50 { store("\(number)", in: cache) }
        await cache.flush()
        let threads = disk.content.withLock { $0.storeThreads }
        #expect(threads.count == 50)
        #expect(Set(threads) == ["cache-disk"])
    }

    @Test func `A blocked disk does not delay encoding; the write-behind queue holds bytes then`() async {
        let cache = disk.cache(coder: nil) { $0.maxConcurrentDiskOperations = 1 }
        let gate = Gate()
        disk.holdStores(gate)
        let left = Monitor(20)
        for number in 0..<20 { store("\(number)", in: cache) { left.withLock { $0 -= 1 } } }
        #expect(await gate.arrivals())
        // One is being written, the others wait in encoded form.
        let bytes = 19 * FakeCoder.data().count
        #expect(await becomes { cache.writes.withLock { $0.waitingCost } == bytes })
        #expect(coder.encodeCount == 20)
        #expect(cache.diskEntry(forKey: "7")?.data == FakeCoder.data())
        #expect(coder.encodeCount == 20, "a reader gets the bytes that are there")
        gate.open()
        #expect(await left.value { $0 == 0 ? true : nil } == true)
        #expect(disk.content.withLock { $0.entries.count } == 20)
    }

    @Test func `A store during the image's encoding wins`() async {
        let cache = disk.cache(coder: nil)
        let gate = Latch()
        coder.hold(gate)
        store("k", in: cache)
        await wait(while: coder.encodeCount == 0)
        let data = Data([1, 2, 3])
        cache.store(nil, data: data, forKey: "k", to: .disk, encodeOptions: ImageEncodeOptions(), completion: nil)
        store("gone", in: cache)
        cache.removeImage(forKey: "gone", from: .disk, completion: nil)
        #expect(cache.diskEntry(forKey: "k")?.data == data)
        gate.open()
        #expect(cache.prepareForExit(within: 20))
        #expect(disk.content.withLock { $0.entries } == ["k": CachedImageData(data: data)])
    }

    @Test func `Encoded bytes above the queue's limit are dropped like others`() async {
        let cache = disk.cache(coder: nil) {
            $0.maxConcurrentDiskOperations = 1
            $0.maxPendingWriteBytes = 3 * FakeCoder.data().count
        }
        let gate = Gate()
        disk.holdStores(gate)
        let left = Monitor(0)
        for number in 0..<10 {
            left.withLock { $0 += 1 }
            store("\(number)", in: cache) { left.withLock { $0 -= 1 } }
        }
        #expect(await gate.arrivals())
        gate.open()
        await cache.flush()
        #expect(await left.value { $0 == 0 ? true : nil } == true)
        #expect(cache.droppedWriteCount > 0)
        #expect(disk.content.withLock { $0.entries.count } + cache.droppedWriteCount == 10)
    }
}
