import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImageCache

/// Cleaning passes that run out of time.
@Suite struct BoundedPassTests {
    let directory = TemporaryDirectory.inMemory()
    let clock = ManualClock()
    let day: Double = 86_400

    /// The number of times the directory was opened, and a clock on which examining a file takes a millisecond.
    private final class Slowness: Sendable {
        let opened = Lock(0)
        let clock: ManualClock

        init(_ clock: ManualClock) { self.clock = clock }

        var calls: FileCalls {
            var calls = FileCalls.system
            calls.status = { directory, name, status in
                self.clock.advance(0.001)
                return FileCalls.system.status(directory, name, status)
            }
            calls.open = { directory, path, flags in
                if flags & O_DIRECTORY != 0 { self.opened.withLock { $0 += 1 } }
                return FileCalls.system.open(directory, path, flags)
            }
            return calls
        }

        /// Since the last call.
        func openedCount() -> Int {
            opened.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    /// A cache of this many entries of one block; none is counted as opened yet.
    private func make(
        _ count: Int,
        _ slowness: Slowness,
        _ change: (inout ImageCacheConfig) -> Void = { _ in }
    ) -> (cache: DiskCache, block: Int) {
        let cache = DiskCache.make(directory, clock: clock, calls: slowness.calls, change)
        let block = DirectoryFiller.fill(cache.path, count: count, newest: clock.wallTime)
        _ = slowness.openedCount()
        return (cache, block)
    }

    @Test func `A pass that is out of time removes the entries it saw, and the next one continues there`() {
        let slowness = Slowness(clock)
        let (cache, _) = make(1000, slowness)
        clock.advance(8 * day)
        // New ones lie between the old ones, or before them all, as the file system likes.
        for number in 0..<90 { cache.store(Data([1]), forKey: "\(number)") }
        var left = 1090
        var passes = 0
        while true {
            let cleanup = cache.removeExpiredData(timeLimit: 0.2)
            passes += 1
            left -= cleanup.expiredCount
            #expect(cache.totalCount == left)
            #expect(cleanup.expiredCount <= 264)
            if cleanup.isComplete { break }
            #expect(cleanup.expiredCount >= 100)
            guard passes < 20 else { break }
        }
        #expect(left == 90)
        #expect(passes == 6)
        // Once for the passes, and once for each count.
        #expect(slowness.openedCount() == 1 + passes)
    }

    @Test func `An entry that expires after it was seen is removed at the end of the pass`() {
        let slowness = Slowness(clock)
        let (cache, _) = make(300, slowness)
        #expect(!cache.removeExpiredData(timeLimit: 0.2).isComplete)
        clock.advance(8 * day)
        let cleanup = cache.removeExpiredData(timeLimit: 10)
        #expect(cleanup.isComplete)
        #expect(cleanup.expiredCount == 300)
        #expect(slowness.openedCount() == 1)
    }

    @Test func `Of the seen entries no more are removed than the limit requires`() {
        let slowness = Slowness(clock)
        let (cache, block) = make(1000, slowness)
        cache.config.maxDiskSize = block * 100
        let cleanup = cache.removeExpiredData(timeLimit: 0.5)
        #expect(!cleanup.isComplete)
        // Half a thousand were seen. A hundred of them stay, and those that there was no time for.
        #expect((300...410).contains(cleanup.trimmedCount))
        #expect(cache.totalCount == 1000 - cleanup.trimmedCount)
        #expect(cache.statistics.evictedCount == cleanup.trimmedCount)
        #expect(cleanup.freedByteCount == cleanup.trimmedCount * block)
        // With all seen it is half of the limit.
        #expect(cache.removeExpiredData(timeLimit: 10).isComplete)
        #expect(cache.totalCount == 49)
    }

    @Test func `When the seen entries are below the limit, all the time is for scanning`() {
        let slowness = Slowness(clock)
        let (cache, block) = make(1000, slowness)
        cache.config.maxDiskSize = block * 900
        #expect(cache.removeExpiredData(timeLimit: 0.8).trimmedCount == 0)
        let cleanup = cache.removeExpiredData(timeLimit: 0.8)
        #expect(cleanup.isComplete)
        #expect(cleanup.trimmedCount == 551)
        // The oldest of all, whichever pass saw them.
        for number in [0, 300, 550] { #expect(!exists(cache.path + "/" + DirectoryFiller.name(number))) }
        for number in [551, 700, 999] { #expect(exists(cache.path + "/" + DirectoryFiller.name(number))) }
    }

    @Test func `Other settings, no time limit, or removing everything start a new pass`() {
        let slowness = Slowness(clock)
        let (cache, block) = make(300, slowness)
        let changes: [(DiskCache) -> Double?] = [
            { _ in 1 },
            { cache in
                cache.config.maxDiskSize = block * 1000
                return 1
            },
            { cache in
                cache.config.maxDiskAge = 5 * day
                return 1
            },
            { cache in
                cache.config.diskCacheExpireType = .modificationDate
                return 1
            },
            { _ in nil },
        ]
        for (index, change) in changes.enumerated() {
            #expect(!cache.removeExpiredData(timeLimit: 0.1).isComplete)
            let limit = change(cache)
            #expect(cache.removeExpiredData(timeLimit: limit).isComplete)
            #expect(slowness.openedCount() == (index == 0 ? 1 : 2), "\(index)")
        }
        #expect(!cache.removeExpiredData(timeLimit: 0.1).isComplete)
        cache.removeAllData()
        _ = slowness.openedCount()
        #expect(cache.removeExpiredData(timeLimit: 1).isComplete)
        #expect(slowness.openedCount() == 1)
    }

    @Test func `A clock set forward spares seen and unseen entries`() {
        let slowness = Slowness(clock)
        let (cache, _) = make(300, slowness)
        #expect(!cache.removeExpiredData(timeLimit: 0.1).isComplete)
        clock.jump(100 * day)
        #expect(cache.removeExpiredData(timeLimit: 10) == DiskCacheCleanup())
        clock.advance(1)
        #expect(cache.removeExpiredData(timeLimit: 10).expiredCount == 300)
    }

    @Test func `A pass does not continue in a directory that vanished`() throws {
        let slowness = Slowness(clock)
        let (cache, _) = make(300, slowness)
        #expect(!cache.removeExpiredData(timeLimit: 0.1).isComplete)
        try FileManager.default.removeItem(atPath: cache.path)
        #expect(!cache.removeExpiredData(timeLimit: 10).isComplete)
        #expect(cache.removeExpiredData(timeLimit: 10).isComplete)
        #expect(cache.store(Data([1]), forKey: "k"))
    }

    @Test func `A pass updates the size known to the size limit`() {
        let slowness = Slowness(clock)
        let (cache, block) = make(100, slowness) { $0.maxDiskSize = 1 << 40 }
        cache.store(Data([1]), forKey: "k")
        let before = cache.state.withLock { $0.eviction.total }
        #expect(before == block * 101)
        clock.advance(8 * day)
        cache.store(Data([1]), forKey: "k")
        #expect(cache.removeExpiredData().expiredCount == 100)
        #expect(cache.state.withLock { $0.eviction.total } == block)
    }

    @Test func `With 20 000 entries a pass of 50 ms takes 100 at most`() {
        // Time of this thread, so that the machine's other work is not counted.
        let processorTime = ClockSource(
            wallTime: { ClockSource.system.wallTime() },
            monotonicNanoseconds: { UInt64(ThreadTime.nanoseconds) }
        )
        let cache = DiskCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: processorTime)
        _ = DirectoryFiller.fill(cache.path, count: 20_000, newest: ClockSource.system.wallTime() - 30 * day)
        var longest: UInt64 = 0
        var expired = 0
        while true {
            let start = processorTime.monotonicNanoseconds()
            let cleanup = cache.removeExpiredData(timeLimit: 0.05)
            longest = max(longest, processorTime.monotonicNanoseconds() - start)
            expired += cleanup.expiredCount
            guard !cleanup.isComplete, cleanup.expiredCount > 0 else { break }
        }
        #expect(expired == 20_000)
        #expect(longest <= 100_000_000)
    }
}
