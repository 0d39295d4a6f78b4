import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct IncrementalScanTests {
    let directory = TemporaryDirectory.inMemory()
    let clock = ManualClock()

    private func allocated(_ path: String) -> Int {
        var size = 0
        DirectoryScan(path: path).forEachEntry { _, status in
            size += status.allocatedSize
            return true
        }
        return size
    }

    /// A directory with entries of one block each, the first the oldest; returns the block's size.
    private func fill(_ count: Int) -> Int {
        let path = directory.path("cache")
        mkdir(path, 0o700)
        return DirectoryFiller.fill(path, count: count, newest: clock.wallTime - 1)
    }

    private func make(limit: Int, calls: FileCalls = .system) -> DiskCache {
        .make(directory, clock: clock, calls: calls) { $0.maxDiskSize = limit }
    }

    private func total(_ cache: DiskCache) -> Int? { cache.state.withLock { $0.eviction.total } }

    @Test func `No store examines more than 256 entries`() {
        let block = fill(3000)
        let looks = Lock(0)
        var calls = FileCalls.system
        calls.status = { directory, name, status in
            looks.withLock { $0 += 1 }
            return FileCalls.system.status(directory, name, status)
        }
        let cache = make(limit: block * 2000, calls: calls)
        looks.withLock { $0 = 0 }
        var most = 0
        var sum = 0
        for number in 0..<300 {
            cache.store(Data(repeating: 1, count: 3000), forKey: "\(number)")
            clock.advance(2)
            let count = looks.withLock { count in
                defer { count = 0 }
                return count
            }
            most = max(most, count)
            sum += count
        }
        #expect(most <= 256)
        #expect(sum >= 3000)
        #expect(total(cache) != nil)
        #expect(cache.statistics.storeCount == 300)
    }

    @Test func `The limit holds once the walk has ended`() {
        let block = fill(3000)
        let limit = block * 2000
        let cache = make(limit: limit)
        var count = 0
        while total(cache) == nil || cache.state.withLock({ $0.eviction.isWalking }) {
            cache.store(Data(repeating: 1, count: 3000), forKey: "\(count)")
            clock.advance(2)
            count += 1
            guard count < 400 else { break }
        }
        // Four batches with each store.
        for number in 0..<50 { cache.store(Data(repeating: 1, count: 3000), forKey: "more \(number)") }
        #expect(allocated(cache.path) <= limit)
        #expect(allocated(cache.path) > limit - block * 100)
        #expect(total(cache) == allocated(cache.path))
        #expect(cache.statistics.evictedCount == 3000 + cache.statistics.storeCount - cache.totalCount)
        // The oldest were removed.
        for number in [0, 500, 900] { #expect(!exists(cache.path + "/" + DirectoryFiller.name(number))) }
        for number in [2000, 2999] { #expect(exists(cache.path + "/" + DirectoryFiller.name(number))) }
    }

    @Test func `Idle time continues the walk, and the limit holds without further stores`() {
        let block = fill(10_000)
        let limit = block * 9000
        let cache = make(limit: limit)
        #expect(!cache.continueScan())
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        #expect(total(cache) == nil)
        var calls = 0
        while cache.continueScan() { calls += 1 }
        // 4 096 entries at once, then 64 evictions.
        #expect(calls >= 2)
        #expect(calls < 40)
        #expect(allocated(cache.path) == limit)
        #expect(cache.containsData(forKey: "k"))
        #expect(exists(cache.path + "/" + DirectoryFiller.name(9999)))
        #expect(!exists(cache.path + "/" + DirectoryFiller.name(1000)))
    }

    @Test func `A small directory is known at once`() {
        let block = fill(200)
        let cache = make(limit: block * 190)
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        #expect(allocated(cache.path) == block * 190)
    }

    @Test(arguments: TestEffort.some(of: 0..<6))
    func `Entries added and removed during a walk are neither lost nor removed twice`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let block = fill(1500)
        let cache = make(limit: block * 1_000_000)
        var keys = (0..<200).map { "known \($0)" }
        let stocking = DiskCache.make(directory, clock: clock)
        for key in keys { stocking.store(Data(repeating: 1, count: 3000), forKey: key) }
        var freed = 0
        var steps = 0
        repeat {
            steps += 1
            clock.advance(2)
            let key = keys.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where seed % 2 == 0:
                freed += cache.containsData(forKey: key) ? fileStatus(cache.cachePath(forKey: key)).allocatedSize : 0
                cache.removeData(forKey: key)
            case 1..<5:
                cache.store(Data(repeating: 2, count: Int.random(in: 0..<40_000, using: &random)), forKey: key)
            default:
                keys.append("new \(keys.count)")
                cache.store(Data(repeating: 3, count: 3000), forKey: keys[keys.count - 1])
            }
        } while total(cache) == nil && steps < 2000
        let actual = allocated(cache.path)
        // For entries removed meanwhile it is unknown whether the walk had found them.
        #expect(total(cache).map { actual...(actual + freed) ~= $0 } == true, "\(total(cache) ?? -1) for \(actual)")
        #expect(cache.statistics.evictedCount == 0)
        #expect(cache.verify().count == 1500)
    }

    @Test func `A walk that fails half-way starts again`() {
        let block = fill(1000)
        let names = Lock(0)
        var calls = FileCalls.system
        calls.list = { stream in
            let count = names.withLock { count in
                count += 1
                return count
            }
            guard count != 700 else {
                errno = EIO
                return nil
            }
            return FileCalls.system.list(stream)
        }
        let cache = make(limit: block * 800, calls: calls)
        names.withLock { $0 = 0 }
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        while cache.continueScan() {}
        #expect(cache.lastError?.description.contains("readdir") == true)
        #expect(total(cache) == nil)
        #expect(allocated(cache.path) == block * 1001)
        cache.store(Data(repeating: 1, count: 3000), forKey: "l")
        while cache.continueScan() {}
        #expect(allocated(cache.path) == block * 800)
    }

    @Test func `A directory replaced during a walk is walked again`() {
        let block = fill(1000)
        let cache = make(limit: block * 500)
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        #expect(rename(cache.path, cache.path + "-old") == 0)
        _ = fill(600)
        while cache.continueScan() {}
        #expect(total(cache) == nil)
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        while cache.continueScan() {}
        #expect(allocated(cache.path) == block * 500)
        #expect(allocated(cache.path + "-old") == block * 1001)
    }

    @Test func `A walk is cancelled when everything is removed or the settings change`() {
        let block = fill(1000)
        let cache = make(limit: block * 900)
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        #expect(cache.scan.withLock { $0 != nil })
        cache.config.diskCacheExpireType = .modificationDate
        #expect(cache.scan.withLock { $0 == nil })
        #expect(!cache.continueScan())
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        while cache.continueScan() {}
        #expect(allocated(cache.path) == block * 900)
        cache.config.maxDiskSize = block * 1000
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        cache.removeAllData()
        #expect(!cache.continueScan())
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        #expect(total(cache) == block)
    }

    @Test func `Files that a listing names twice count once`() {
        let block = fill(1000)
        let again = Lock<UInt>(0)
        var calls = FileCalls.system
        calls.list = { stream in
            again.withLock { last in
                if let file = UnsafeMutablePointer<dirent>(bitPattern: last) {
                    last = 0
                    return file
                }
                let file = FileCalls.system.list(stream)
                last = UInt(bitPattern: file)
                return file
            }
        }
        let cache = make(limit: block * 1500, calls: calls)
        #expect(cache.totalCount == 1000)
        #expect(cache.removeExpiredData() == DiskCacheCleanup())
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        while cache.continueScan() {}
        #expect(total(cache) == block * 1001)
    }

    @Test func `A step of a walk that has ended leaves the next walk as it is`() {
        let block = fill(2000)
        let cache = make(limit: block * 1900)
        cache.store(Data(repeating: 1, count: 3000), forKey: "k")
        while cache.continueScan() {}
        for number in 0..<2000 where !cache.state.withLock({ $0.eviction.isWalking }) {
            cache.store(Data(repeating: 1, count: 3000), forKey: "\(number)")
        }
        #expect(cache.scan.withLock { $0?.number } == 2)
        cache.advanceScan(RollingEviction.Step(walk: 1, budget: 16), budget: 16)
        #expect(cache.scan.withLock { $0?.number } == 2)
    }

    @Test func `Many threads that store and walk keep the limit together`() async {
        let block = fill(2000)
        let limit = block * 1500
        let cache = make(limit: limit)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<150 {
                        cache.store(Data(repeating: 1, count: 3000), forKey: "\(task) \(number)")
                        if number % 10 == 0 { _ = cache.continueScan() }
                    }
                }
            }
        }
        while cache.continueScan() {}
        #expect(allocated(cache.path) <= limit)
        // An entry counted twice, at the moment of its store, would show here.
        #expect(allocated(cache.path) > limit - block * 40)
    }
}
