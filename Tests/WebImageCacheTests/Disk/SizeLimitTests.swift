import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct SizeLimitTests {
    let directory = TemporaryDirectory.inMemory()
    let clock = ManualClock()

    @Test func `The limit holds with every store, and the oldest are removed`() {
        let limit = 200_000
        let cache = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = limit }
        var worst = 0
        for number in 0..<500 {
            cache.store(Data(repeating: 1, count: 3000), forKey: "\(number)")
            clock.advance(2)
            if number % 3 == 0 { #expect(cache.data(forKey: "0") != nil, "\(number)") }
            var size = 0
            DirectoryScan(path: cache.path).forEachEntry { _, status in
                size += status.allocatedSize
                return true
            }
            worst = max(worst, size)
        }
        #expect(worst <= limit)
        // It does not remove much more than it has to.
        #expect(cache.totalCount > 30)
        #expect(cache.containsData(forKey: "499"))
        #expect(cache.containsData(forKey: "480"))
        #expect(!cache.containsData(forKey: "1"))
    }

    @Test func `Another process's entries count, too`() {
        let limit = 400_000
        let one = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = limit }
        let two = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = limit }
        for number in 0..<400 {
            one.store(Data(repeating: 1, count: 3000), forKey: "one \(number)")
            two.store(Data(repeating: 1, count: 3000), forKey: "two \(number)")
            clock.advance(2)
        }
        var size = 0
        DirectoryScan(path: one.path).forEachEntry { _, status in
            size += status.allocatedSize
            return true
        }
        // Each notices the other's every eighth of the limit.
        #expect(size <= limit + limit / 4)
    }

    @Test func `Storing one key again and again does not evict others`() {
        let cache = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = 100_000 }
        for number in 0..<10 { cache.store(Data(repeating: 1, count: 3000), forKey: "\(number)") }
        for _ in 0..<200 { cache.store(Data(repeating: 2, count: 3000), forKey: "hot") }
        #expect(cache.totalCount == 11)
        #expect(cache.statistics.evictedCount == 0)
    }

    @Test func `Data above the limit is not stored, and evicts no other entry`() {
        let cache = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = 50_000 }
        cache.store(Data([1]), forKey: "small")
        #expect(!cache.store(Data(repeating: 1, count: 50_001), forKey: "big"))
        #expect(cache.containsData(forKey: "small"))
        #expect(cache.statistics.failedStoreCount == 1)
    }

    @Test func `The sizes of sparse files are added up, however many`() {
        var status = stat()
        (status.st_size, status.st_blocks) = (.max, .max)
        var sum = 0
        for _ in 0..<10_000 { sum += status.allocatedSize + status.length }
        #expect(sum == 20_000 << 48)
        (status.st_size, status.st_blocks) = (1000, 8)
        #expect(status.allocatedSize == 4096 && status.length == 1000)
    }

    /// Other file systems have no files of that size.
    @Test(.enabled(if: access("/dev/shm", W_OK) == 0))
    func `Files of the maximum size evict only themselves`() {
        let shared = TemporaryDirectory(in: "/dev/shm")
        let cache = DiskCache.make(shared, clock: clock) { $0.maxDiskSize = 200_000 }
        cache.store(Data(repeating: 1, count: 3000), forKey: "old")
        for key in ["a", "b", "c"] {
            let file = open(cache.cachePath(forKey: key), O_WRONLY | O_CREAT, 0o600)
            #expect(ftruncate(file, .max) == 0)
            close(file)
            setTimes(cache.cachePath(forKey: key), clock.source.wallTime() - 10)
        }
        #expect(cache.totalCount == 4 && cache.totalSize > 3 << 48)
        // The others have no trailer.
        #expect(cache.entries().map(\.key) == ["old"])
        #expect(cache.removeExpiredData().trimmedCount == 3)
        #expect(cache.store(Data(repeating: 2, count: 3000), forKey: "new"))
        #expect(cache.containsData(forKey: "old") && cache.containsData(forKey: "new") && cache.totalCount == 2)
    }
}
