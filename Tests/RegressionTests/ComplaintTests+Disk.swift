import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

extension ComplaintTests {
    @Test func `Complaint 25: encoding does not block reads, and pending writes are bytes`() async throws {
        let (disk, coder) = (FakeDisk(), FakeCoder())
        let cache = disk.cache { $0.maxConcurrentDiskOperations = 1 }
        cache.storeDataToDisk(FakeCoder.data(), forKey: "there")
        // Encoders that do not finish, as of many big images.
        let latch = Latch()
        coder.hold(latch)
        let left = Monitor(30)
        final class Weak: Sendable {
            private let table = Lock<[WeakImage]>([])
            func add(_ image: Image) { table.withLock { $0.append(WeakImage(image: image)) } }
            var aliveCount: Int { table.withLock { $0.filter { $0.image != nil }.count } }
        }
        struct WeakImage: Sendable { weak let image: Image? }
        let images = Weak()
        for number in 0..<30 {
            let image = FakeCoder.image(width: 100, height: 100)
            images.add(image)
            var request = ImageStoreRequest(key: "\(number)", image: image)
            request.cacheType = .disk
            request.coder = coder
            cache.store(request) { left.withLock { $0 -= 1 } }
        }
        #expect(await cache.diskData(forKey: "there") == FakeCoder.data())
        #expect(await cache.containsImage(forKey: "there", in: .disk) == .disk)
        #expect(left.withLock { $0 } == 30 && images.aliveCount == 30)
        // Then the disk does not finish.
        let gate = Gate()
        disk.holdStores(gate)
        latch.open()
        #expect(await gate.arrivals())
        #expect(await becomes { coder.encodeCount == 30 && images.aliveCount == 0 }, "no pixels wait for the disk")
        let waiting = cache.writes.withLock { $0.waitingCost }
        #expect(waiting <= 30 * FakeCoder.data().count, "\(waiting)")
        gate.open()
        #expect(await left.value { $0 == 0 ? true : nil } == true)
        // However much is stored while the disk is blocked, the queue stays within its limit.
        let limit = 1 << 20
        let (slow, door) = (FakeDisk(), Gate())
        slow.holdStores(door)
        let bounded = slow.cache {
            $0.maxConcurrentDiskOperations = 1
            $0.maxPendingWriteBytes = limit
        }
        for number in 0..<300 {
            bounded.store(ImageStoreRequest(key: "\(number)", data: Data(count: 50_000)), completion: nil)
            #expect(bounded.writes.withLock { $0.waitingCost } <= limit)
        }
        #expect(bounded.droppedWriteCount > 250)
        door.open()
        await bounded.flush()
    }

    @Test func `Complaint 26: cleaning a big directory is limited in time, and files may vanish meanwhile`() async {
        let (directory, clock) = (TemporaryDirectory(), ManualClock())
        // The number of files that each thread has examined.
        let looked = Lock<[UInt: Int]>([:])
        let (vanishing, path) = (Lock(false), directory.path("cache"))
        let spared = CacheFileName(key: "first").string
        var calls = FileCalls.system
        // A slow disk: a millisecond for each file; and another program that removes every third before it is examined.
        calls.status = { folder, name, status in
            clock.advance(0.001)
            let number = looked.withLock { looked -> Int in
                looked[UInt(pthread_self()), default: 0] += 1
                return looked.values.reduce(0, +)
            }
            if number % 3 == 0, vanishing.withLock({ $0 }), String(cString: name) != spared {
                unlinkat(folder, name, 0)
            }
            return FileCalls.system.status(folder, name, status)
        }
        func make(_ change: (inout ImageCacheConfig) -> Void) -> ImageCache {
            var config = ImageCacheConfig()
            change(&config)
            return ImageCache(path: path, config: config, clock: clock.source, calls: calls)
        }
        let block = await { () async -> Int in
            let cache = make { _ in }
            await cache.flush()
            return DirectoryFiller.fill(path, count: 3_000, newest: clock.wallTime - 30 * 86_400)
        }()
        let limit = block * 500
        let cache = make {
            $0.maxDiskSize = limit
            $0.expiryInterval = 0
        }
        /// The files that the calling thread examines meanwhile. Others may walk on at the same time.
        func looks(during body: () -> Void) -> Int {
            let thread = UInt(pthread_self())
            let before = looked.withLock { $0[thread] ?? 0 }
            body()
            return looked.withLock { $0[thread] ?? 0 } - before
        }
        // A store examines only a part of it.
        #expect(looks { cache.storeDataToDisk(Data(count: 100), forKey: "first") } <= 300)
        // The exit has half a second and uses it. An unfinished pass continues next time.
        vanishing.withLock { $0 = true }
        var (passes, isDone) = (0, false)
        while passes < 60, !isDone {
            passes += 1
            #expect(looks { isDone = cache.prepareForExit(within: 0.5) } <= 800)
        }
        #expect(isDone)
        #expect(passes > 1)
        #expect(cache.totalDiskSize <= limit && cache.totalDiskCount <= 1)
        #expect(await cache.diskData(forKey: "first") == Data(count: 100), "new entries stay")
        #expect((cache.diskCache as? DiskCache)?.lastError == nil, "vanished files are not an error")
    }

    @Test func `Complaint 28: recently read entries outlive unread ones`() async throws {
        let clock = ManualClock()
        let picture = try Fixtures.data("JPEG/baseline-420.jpg")
        let harness = ImageHarness(clock: clock.source, config: { $0.shouldCacheImagesInMemory = false }) { _ in
            .success(picture)
        }
        let cache = harness.cache
        let urls = (0..<24).map { testURL("/\($0)") }
        for url in urls {
            _ = try await harness.load(url)
            clock.advance(60)
        }
        // The oldest six, each read in another way.
        clock.advance(3_600)
        let keys = urls.map(\.absoluteString)
        _ = try await harness.load(urls[0])
        #expect(await cache.diskData(forKey: keys[1]) != nil)
        #expect(await cache.queryImage(forKey: keys[2], context: harness.context()).image != nil)
        #expect(cache.imageFromDisk(forKey: keys[3]) != nil)
        _ = try await harness.load(urls[4]) { $0.thumbnailPixelSize = ImageSize(width: 5, height: 5) }
        #expect(try await harness.manager.data(with: urls[5]) == picture)
        // A check for existence is not a read.
        #expect(await cache.containsImage(forKey: keys[6]) == .disk)
        let size = fileStatus(try #require(cache.cachePath(forKey: keys[0]))).allocatedSize
        cache.config.maxDiskSize = size * 25
        // Of twenty-five (one thumbnail), those that fit into half of the limit stay.
        cache.config.maxDiskSize = size * 20
        #expect(await cache.removeExpiredData().trimmedCount == 16)
        let there = keys.indices.filter { cache.diskDataExists(forKey: keys[$0]) }
        #expect(there == [0, 1, 2, 3, 4, 5, 22, 23])
        #expect(harness.loader.count == 24)
        // The same with the limit enforced as new ones are stored.
        cache.config.maxDiskSize = size * 10
        for number in 100..<104 {
            clock.advance(60)
            for old in 0..<3 { _ = await cache.diskData(forKey: keys[old]) }
            _ = try await harness.load(testURL("/\(number)"))
        }
        #expect((0..<3).allSatisfy { cache.diskDataExists(forKey: keys[$0]) })
        #expect(!cache.diskDataExists(forKey: keys[22]) && !cache.diskDataExists(forKey: keys[23]))
    }
}
