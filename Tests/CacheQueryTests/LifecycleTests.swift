import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImagePlayer

@Suite(.tags(.threadSanitizer)) struct LifecycleTests {
    /// A clock that advances by a second at every reading.
    private func ticking() -> ClockSource {
        let count = Lock<UInt64>(0)
        return ClockSource(
            wallTime: { 0 },
            monotonicNanoseconds: {
                count.withLock { count in
                    count += 1
                    return count * 1_000_000_000
                }
            }
        )
    }

    private func passes(_ disk: FakeDisk) -> [Double?] { disk.content.withLock { $0.passes } }

    @Test func `All caches share one time budget`() {
        let registry = CacheRegistry(clock: ticking())
        let disks = (0..<3).map { _ in FakeDisk() }
        let caches = disks.map { $0.cache() }
        for cache in caches { registry.add(cache.upkeep) }
        #expect(registry.terminate(within: 5.5))
        // A second each for waiting, then the rest for trimming, never below zero.
        #expect(disks.map { passes($0) } == [[1.5], [0.5], [0]])
    }

    @Test func `Everything is written before anything is trimmed, and a hanging cache does not delay the exit`() async {
        let registry = CacheRegistry()
        let (stuck, other) = (FakeDisk(), FakeDisk())
        let gate = Gate()
        stuck.holdStores(gate)
        let caches = [stuck.cache(), other.cache { $0.shouldRemoveExpiredDataWhenTerminate = false }]
        for cache in caches {
            registry.add(cache.upkeep)
            cache.store(ImageStoreRequest(key: "k", data: Data([1])), completion: nil)
        }
        #expect(await gate.arrivals())
        #expect(!registry.terminate(within: 0.05))
        #expect(passes(stuck) == [0] && passes(other) == [])
        gate.open()
        for cache in caches { #expect(cache.prepareForExit(within: 20)) }
    }

    @Test func `What is also written elsewhere is written after the disk, and within the time`() {
        final class Elsewhere: PendingWrites {
            let disk: FakeDisk
            let passes = Lock<[Int]>([])
            let isStuck: Bool
            init(_ disk: FakeDisk, isStuck: Bool) { (self.disk, self.isStuck) = (disk, isStuck) }
            func flush(completion: @escaping @Sendable () -> Void) {
                passes.withLock { $0.append(disk.content.withLock { $0.passes.count }) }
                if !isStuck { completion() }
            }
        }
        for isStuck in [false, true] {
            let registry = CacheRegistry(clock: ticking())
            let disk = FakeDisk()
            let cache = disk.cache()
            let elsewhere = Elsewhere(disk, isStuck: isStuck)
            registry.add(cache.upkeep)
            registry.add(elsewhere)
            do { registry.add(Elsewhere(disk, isStuck: true)) }
            #expect(registry.terminate(within: 2.001) == !isStuck, "a released one is not waited for")
            #expect(elsewhere.passes.withLock { $0 } == [0], "before the disk is trimmed")
            #expect(passes(disk).count == 1)
        }
    }

    @Test func `A second call does nothing and returns the same result`() {
        let registry = CacheRegistry()
        let disk = FakeDisk()
        let cache = disk.cache()
        registry.add(cache.upkeep)
        #expect(registry.terminate(within: 5))
        #expect(registry.terminate(within: 5))
        #expect(passes(disk).count == 1)
        disk.content.withLock { $0.cleanup.isComplete = false }
        let late = CacheRegistry()
        late.add(cache.upkeep)
        #expect(!late.terminate(within: 5))
        #expect(!late.terminate(within: 5))
    }

    @Test func `A released cache is not asked`() async {
        let registry = CacheRegistry()
        let disk = FakeDisk()
        let kept = FakeDisk()
        let cache = kept.cache()
        registry.add(cache.upkeep)
        for _ in 0..<100 { registry.add(disk.cache { $0.expiryInterval = 0 }.upkeep) }
        await wait(while: registry.upkeeps.count > 1)
        #expect(registry.terminate(within: 20))
        #expect(passes(disk).isEmpty)
        #expect(passes(kept).count == 1)
        for _ in 0..<100 { registry.add(disk.cache { $0.expiryInterval = 0 }.upkeep) }
        #expect(registry.entryCount < 200, "the list does not grow with released caches")
    }

    @Test func `Every cache is notified of low memory and of entering the background`() async {
        let disk = FakeDisk()
        let cache = disk.cache { $0.shouldUseWeakMemoryCache = true }
        let image = FakeCoder.image()
        cache.storeToMemory(image, forKey: "shown")
        cache.storeToMemory(FakeCoder.image(), forKey: "not shown")
        cache.didReceiveMemoryWarning()
        #expect(cache.memoryImage(forKey: "not shown") == nil)
        #expect(cache.memoryImage(forKey: "shown") === image)
        #expect(CacheRegistry.shared.upkeeps.contains { $0 === cache.upkeep })
        cache.didEnterBackground()
        #expect(await disk.content.value { $0.passes.isEmpty ? nil : true } == true)
    }

    @Test(arguments: [(0.25, 0, 1), (0.25, 10, 2), (1, 10, 5), (0, 0, 0)])
    func `In the background a share of the limit stays in memory, or of the current size without a limit`(
        share: Double,
        imagesOfLimit: Int,
        left: Int
    ) async {
        let disk = FakeDisk()
        let limit = imagesOfLimit * FakeCoder.image().memoryCost
        let cache = disk.cache {
            $0.backgroundMemoryShare = share
            $0.maxMemoryCost = limit
        }
        let images = (0..<5).map { _ in FakeCoder.image() }
        for (number, image) in images.enumerated() { cache.storeToMemory(image, forKey: "\(number)") }
        cache.didEnterBackground()
        #expect(await disk.content.value { $0.passes.isEmpty ? nil : true } == true)
        #expect((0..<5).count { cache.memoryImage(forKey: "\($0)") != nil } == left)
    }

    // In a process of its own, because all caches are told, also those of other tests.
    @Test func `Low memory drops the frames of animations that are not shown next`() async {
        await #expect(processExitsWith: .success) {
            let cache = FakeDisk().cache()
            cache.storeToMemory(FakeCoder.image(), forKey: "not shown")
            let (pool, player) = AnimationFramePools.shared.join(NumberedAnimation(count: 4))
            defer { AnimationFramePools.shared.leave(pool, player: player) }
            pool.wish(player, for: [0], isWaiting: false, byteLimit: .max, first: FakeCoder.image())
            pool.withdraw(player)
            #expect(pool.count == 1)
            WebImageLifecycle.didReceiveMemoryWarning()
            #expect(pool.count == 0)
            #expect(cache.memoryImage(forKey: "not shown") == nil)
        }
    }

    @Test func `A custom memory level is emptied on low memory, unless it handles it`() {
        final class Level: MemoryCaching {
            let count = Lock(0)
            func image(forKey key: String) -> Image? { nil }
            func setImage(_ image: Image?, forKey key: String, cost: Int?) {}
            func removeImage(forKey key: String) {}
            func removeAll() { count.withLock { $0 += 1 } }
            func apply(_ config: ImageCacheConfig) {}
        }
        let level = Level()
        let cache = FakeDisk().cache { $0.makeMemoryCache = { _ in level } }
        cache.didReceiveMemoryWarning()
        #expect(level.count.withLock { $0 } == 1)
    }

    @Test func `A process that ends by returning from main has written what it stored`() async throws {
        let directory = TemporaryDirectory()
        let process = try HelperProcess("test-program", ["cache-hammer", "return", directory.path, "1"])
        #expect(await process.readLine() == "ready")
        #expect(await process.wait() == 0)
        check(directory)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `A process ended by SIGTERM and similar signals has written what it stored`(signal: Int32) async throws {
        let directory = TemporaryDirectory()
        let process = try HelperProcess("test-program", ["cache-hammer", "signal", directory.path, "1"])
        #expect(await process.readLine() == "ready")
        process.send(signal)
        #expect(await process.wait() == 128 + signal)
        check(directory)
    }

    private func check(_ directory: TemporaryDirectory) {
        let cache = DiskCache(path: directory.path("ending"))
        #expect(cache.totalCount == 1000)
        for number in 0..<1000 {
            let data = cache.data(forKey: "\(number)")
            #expect(data.map { HammerImage.isWhole($0, number: number) } == true)
        }
    }
}
