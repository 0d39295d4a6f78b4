import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

/// Several cache objects, as in several processes, on one directory.
@Suite(.tags(.threadSanitizer)) struct DiskCacheSharingTests {
    let directory = TemporaryDirectory()
    let clock = ManualClock()

    private func allocated(_ path: String) -> Int {
        var size = 0
        DirectoryScan(path: path).forEachEntry { _, status in
            size += status.allocatedSize
            return true
        }
        return size
    }

    @Test func `Two concurrent trims do not remove twice as much`() {
        let other = DiskCache.make(directory, clock: clock)
        for number in 0..<20 {
            other.store(Data(repeating: 1, count: 4000), forKey: "\(number)")
            clock.advance(10)
        }
        let limit = fileStatus(other.cachePath(forKey: "0")).allocatedSize * 20 - 1
        other.config.maxDiskSize = limit
        // The pass reads this clock for the third time when it has scanned the directory and is about to remove.
        let readings = Lock(0)
        let clock = clock
        let interrupting = ClockSource(
            wallTime: { clock.wallTime },
            monotonicNanoseconds: {
                let count = readings.withLock { count in
                    count += 1
                    return count
                }
                if count == 3 { other.removeExpiredData() }
                return clock.source.monotonicNanoseconds()
            }
        )
        var config = ImageCacheConfig()
        config.maxDiskSize = limit
        let cache = DiskCache(path: other.path, config: config, clock: interrupting)
        readings.withLock { $0 = 0 }
        let cleanup = cache.removeExpiredData(timeLimit: 100)
        #expect(readings.withLock { $0 } > 3)
        #expect(other.statistics.evictedCount == 11)
        #expect(cleanup.trimmedCount == 0)
        #expect(cleanup.isComplete)
        #expect(cache.totalCount == 9)
    }

    @Test func `The limit holds for many caches that store little each`() {
        let limit = 400_000
        let caches = (0..<6).map { _ in DiskCache.make(directory, clock: clock) { $0.maxDiskSize = limit } }
        var worst = 0
        for number in 0..<60 {
            for (index, cache) in caches.enumerated() {
                cache.store(Data(repeating: 1, count: 3000), forKey: "\(index) \(number)")
                clock.advance(2)
            }
            worst = max(worst, allocated(caches[0].path))
        }
        // Each may store a quarter of the limit before it checks what the others stored.
        #expect(worst <= limit * 2)
        #expect(allocated(caches[0].path) <= limit + limit / 4)
    }

    @Test func `A clear by one cache loses no entry that another stores afterwards`() async {
        let cleared = DiskCache.make(directory, clock: clock)
        let writing = DiskCache.make(directory, clock: clock)
        let stop = Lock(false)
        let done = Latch()
        startThread {
            while !stop.withLock({ $0 }) { cleared.removeAllData() }
            done.open()
        }
        for number in 0..<300 { #expect(writing.store(HammerImage.bytes(number, version: 1), forKey: "\(number)")) }
        stop.withLock { $0 = true }
        #expect(await done.opens(seconds: 60))
        for number in 0..<300 { writing.store(HammerImage.bytes(number, version: 2), forKey: "\(number)") }
        #expect(writing.totalCount == 300)
        #expect(writing.verify() == [])
        #expect(!names(in: writing.path).contains { $0.hasSuffix(".tmp") })
    }

    @Test func `A file with the inode number of a damaged one is another file`() {
        let cache = DiskCache.make(directory, clock: clock)
        cache.store(Data([1]), forKey: "k")
        let path = cache.cachePath(forKey: "k")
        let damaged = fileStatus(path)
        // The same inode with other content, as when a number is reused.
        writeBytes(readBytes(path), path)
        setTimes(path, clock.wallTime + 5)
        #expect(!fileStatus(path).isUnchanged(since: damaged))
        #expect(!cache.removeDamaged(CacheFileName(key: "k").string, damaged))
        #expect(cache.data(forKey: "k") == Data([1]))
    }

    @Test func `Names that are not text are not taken for entries`() {
        let name = Array("0123456789abcdef0123456789abcdef".utf8)
        #expect(CacheFileName.isEntryName(name))
        #expect(CacheFileName.isEntryName(name + ".bild-ä".utf8))
        #expect(!CacheFileName.isEntryName(name + [0x2E, 0xFF]))
        #expect(!CacheFileName.isEntryName(name + [0x2E, 0xC3]))
    }
}
