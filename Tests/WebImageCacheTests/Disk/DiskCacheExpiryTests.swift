import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct DiskCacheExpiryTests {
    let directory = TemporaryDirectory()
    let clock = ManualClock()
    let day: Double = 86_400

    private func make(_ change: (inout ImageCacheConfig) -> Void = { _ in }) -> DiskCache {
        .make(directory, clock: clock, change)
    }

    private func keys(_ cache: DiskCache) -> Set<String> { Set(cache.entries().map(\.key)) }

    @Test func `An entry not read for a week expires, to the second`() {
        let cache = make()
        cache.store(Data([1]), forKey: "unread")
        cache.store(Data([1]), forKey: "read")
        clock.advance(7 * day - 1)
        #expect(cache.removeExpiredData().expiredCount == 0)
        _ = cache.data(forKey: "read")
        clock.advance(1)
        // An entry exactly as old as allowed is expired.
        let cleanup = cache.removeExpiredData()
        #expect(cleanup.expiredCount == 1)
        #expect(cleanup.freedByteCount > 0)
        #expect(cleanup.isComplete)
        #expect(keys(cache) == ["read"])
        #expect(cache.statistics.expiredCount == 1)
    }

    @Test func `Modification counts from the write, whatever was read since`() {
        let cache = make { $0.diskCacheExpireType = .modificationDate }
        cache.store(Data([1]), forKey: "old")
        clock.advance(4 * day)
        cache.store(Data([1]), forKey: "new")
        _ = cache.data(forKey: "old")
        clock.advance(4 * day)
        #expect(cache.removeExpiredData().expiredCount == 1)
        #expect(keys(cache) == ["new"])
    }

    @Test func `Creation counts from the store, even when the file was written since`() {
        let cache = make { $0.diskCacheExpireType = .creationDate }
        cache.store(Data([1]), forKey: "old")
        clock.advance(4 * day)
        cache.setExtendedData(Data([2]), forKey: "old")
        setTimes(cache.cachePath(forKey: "old"), clock.wallTime)
        cache.store(Data([1]), forKey: "new")
        clock.advance(4 * day)
        #expect(cache.removeExpiredData().expiredCount == 1)
        #expect(keys(cache) == ["new"])
    }

    @Test func `Change counts from the last change of any kind`() {
        // The kernel sets this time itself, so the clock starts at its time.
        let now = ClockSource.system.wallTime()
        let clock = ManualClock(wallTime: now + 1)
        let cache = DiskCache.make(directory, clock: clock) { $0.diskCacheExpireType = .changeDate }
        cache.store(Data([1]), forKey: "k")
        setTimes(cache.cachePath(forKey: "k"), now - 30 * day)
        clock.advance(7 * day - 60)
        #expect(cache.removeExpiredData().expiredCount == 0)
        clock.advance(120)
        #expect(cache.removeExpiredData().expiredCount == 1)
    }

    @Test(arguments: ImageCacheConfig.ExpireType.allCases)
    func `A negative age never expires, zero does at the next pass`(type: ImageCacheConfig.ExpireType) {
        let clock = ManualClock(wallTime: ClockSource.system.wallTime() + 5)
        let cache = DiskCache.make(directory, clock: clock) {
            $0.maxDiskAge = -1
            $0.diskCacheExpireType = type
        }
        cache.store(Data([1]), forKey: "k")
        clock.advance(1000 * day)
        #expect(cache.removeExpiredData() == DiskCacheCleanup())
        cache.config.maxDiskAge = 0
        #expect(cache.removeExpiredData().expiredCount == 1)
    }

    @Test(arguments: ImageCacheConfig.ExpireType.allCases.filter { $0 != .changeDate })
    func `Above the limit a cache is trimmed to below half, the oldest first`(type: ImageCacheConfig.ExpireType) {
        let cache = make { $0.diskCacheExpireType = type }
        for number in 0..<20 {
            cache.store(Data(repeating: 1, count: 4000), forKey: "\(number)")
            clock.advance(10)
        }
        // Entries of one block each.
        let block = fileStatus(cache.cachePath(forKey: "0")).allocatedSize
        cache.config.maxDiskSize = block * 20
        #expect(cache.removeExpiredData().trimmedCount == 0)
        cache.config.maxDiskSize = block * 20 - 1
        let cleanup = cache.removeExpiredData()
        // Half of it is slightly less than ten blocks; it stops strictly below.
        #expect(cleanup.trimmedCount == 11)
        #expect(keys(cache) == Set((11..<20).map { "\($0)" }))
    }

    @Test func `With access dates recently read entries stay`() {
        let cache = make()
        for number in 0..<10 {
            cache.store(Data(repeating: 1, count: 4000), forKey: "\(number)")
            clock.advance(10)
        }
        for number in [0, 3] { _ = cache.data(forKey: "\(number)") }
        let block = fileStatus(cache.cachePath(forKey: "0")).allocatedSize
        cache.config.maxDiskSize = block * 8
        cache.removeExpiredData()
        #expect(keys(cache) == ["0", "3", "9"])
    }

    @Test func `Space is counted as allocated`() {
        let cache = make { $0.maxDiskSize = 100 }
        cache.store(Data(repeating: 1, count: 20), forKey: "k")
        cache.removeExpiredData()
        // Twenty bytes take a block, which is more than a hundred bytes.
        #expect(cache.totalCount == 0)
    }

    @Test func `Hidden files, other programs' files and directories are left in place`() throws {
        let cache = make { $0.maxDiskSize = 1 }
        cache.store(Data(), forKey: "k")
        for name in [".hidden", "mine.jpg", "0123456789abcdef0123456789abcde.jpg"] {
            writeBytes([1], cache.path + "/" + name)
            setTimes(cache.path + "/" + name, 0)
        }
        let inner = cache.path + "/0123456789abcdef0123456789abcdef"
        mkdir(inner, 0o700)
        setTimes(inner, 0)
        clock.advance(100 * day)
        cache.removeExpiredData()
        #expect(names(in: cache.path).count == 5)
    }

    @Test func `A file that cannot be removed is skipped, and the pass ends`() async throws {
        let cache = make()
        for number in 0..<5 { cache.store(Data(repeating: 1, count: 4000), forKey: "\(number)") }
        let stuck = cache.cachePath(forKey: "2")
        guard geteuid() == 0, try await ProgramRun.run("/usr/bin/chattr", ["+i", stuck]).status == 0 else {
            print("files cannot be made immutable here: left out")
            return
        }
        defer { _ = try? ProgramRun("/usr/bin/chattr", ["-i", stuck]) }
        cache.config.maxDiskSize = 1000
        clock.advance(1)
        #expect(cache.removeExpiredData().trimmedCount == 4)
        clock.advance(8 * day)
        #expect(cache.removeExpiredData().expiredCount == 0)
        cache.store(Data([1]), forKey: "new")
        cache.keepSizeLimit()
        #expect(exists(stuck))
    }

    @Test func `A clock set forward while the program runs expires nothing in the first pass`() {
        let cache = make()
        cache.store(Data([1]), forKey: "k")
        clock.jump(10 * 365 * day)
        #expect(cache.removeExpiredData().expiredCount == 0)
        #expect(cache.containsData(forKey: "k"))
        // Set back again: all is as before.
        clock.jump(-10 * 365 * day)
        #expect(cache.removeExpiredData().expiredCount == 0)
        #expect(cache.data(forKey: "k") != nil)
        // If it stays so, it is the time.
        clock.jump(10 * 365 * day)
        cache.removeExpiredData()
        clock.advance(3600)
        #expect(cache.removeExpiredData().expiredCount == 1)
    }

    @Test(arguments: [ImageCacheConfig.ExpireType.accessDate, .modificationDate])
    func `A time in the future counts as now, and is corrected`(type: ImageCacheConfig.ExpireType) {
        let cache = make { $0.diskCacheExpireType = type }
        cache.store(Data([1]), forKey: "k")
        setTimes(cache.cachePath(forKey: "k"), clock.wallTime + 3650 * day)
        #expect(cache.removeExpiredData().expiredCount == 0)
        clock.advance(6 * day)
        #expect(cache.removeExpiredData().expiredCount == 0)
        clock.advance(2 * day)
        #expect(cache.removeExpiredData().expiredCount == 1)
    }

    @Test func `A clock set back does not make ages negative`() {
        let cache = make()
        cache.store(Data([1]), forKey: "k")
        clock.jump(-10 * 365 * day)
        #expect(cache.removeExpiredData().expiredCount == 0)
        #expect(cache.data(forKey: "k") == Data([1]))
    }

    @Test func `A pass stops when its time is over`() {
        let clock = clock
        let ticking = ClockSource(
            wallTime: { clock.wallTime },
            monotonicNanoseconds: {
                clock.advance(0.001)
                return clock.source.monotonicNanoseconds()
            }
        )
        let cache = DiskCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: ticking)
        for number in 0..<100 { cache.store(Data([1]), forKey: "\(number)") }
        clock.advance(8 * day)
        let cleanup = cache.removeExpiredData(timeLimit: 0.05)
        #expect(!cleanup.isComplete)
        #expect(cleanup.expiredCount > 10)
        #expect(cleanup.expiredCount < 60)
        #expect(cache.removeExpiredData(timeLimit: 10).isComplete)
        #expect(cache.totalCount == 0)
    }

    @Test func `Entries that another process removes or reads meanwhile do no harm`() {
        let cache = make()
        let other = make()
        for number in 0..<50 { cache.store(Data([1]), forKey: "\(number)") }
        clock.advance(8 * day)
        for number in 0..<50 where number % 2 == 0 { other.removeData(forKey: "\(number)") }
        #expect(cache.removeExpiredData().expiredCount == 25)
    }
}
