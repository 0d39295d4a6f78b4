import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

extension TrapTests {
    @Test func `Trap 9: a write cut anywhere is a miss or the previous entry, never half an image`() throws {
        let (old, new) = (Data(pattern(700)), Data(pattern(900).reversed()))
        // The progress of the system, and the reason for its end.
        let room = Lock((bytes: Int.max, reason: EIO))
        var calls = FileCalls.system
        calls.write = { file, pieces, count in
            let (left, reason) = room.withLock { $0 }
            guard left > 0 else { return -Int(reason) }
            var pieces = Array(UnsafeBufferPointer(start: pieces, count: Int(count)))
            var sum = 0
            for index in pieces.indices {
                pieces[index].iov_len = min(pieces[index].iov_len, left - sum)
                sum += pieces[index].iov_len
            }
            room.withLock { $0.bytes -= sum }
            return FileCalls.system.write(file, pieces, count)
        }
        let directory = TemporaryDirectory()
        let cache = DiskCache.make(directory, calls: calls)
        #expect(cache.store(old, forKey: "k"))
        let file = cache.cachePath(forKey: "k")
        let whole = readBytes(file)
        #expect(whole.count > old.count)
        for count in 0..<new.count {
            room.withLock { $0 = (count, EIO) }
            #expect(!cache.store(new, forKey: "k") && cache.data(forKey: "k") == old, "cut after \(count)")
        }
        // With a full disk, entries may have been removed to free space.
        for count in stride(from: 0, to: new.count, by: 50) {
            room.withLock { $0 = (count, ENOSPC) }
            #expect(!cache.store(new, forKey: "k") && cache.data(forKey: "k") ?? old == old, "cut after \(count)")
        }
        room.withLock { $0.bytes = .max }
        #expect(cache.store(new, forKey: "k"))
        #expect(cache.data(forKey: "k") == new)
        #expect(names(in: cache.path).filter { $0.hasPrefix(".") }.isEmpty, "nothing is left lying about")
        // A name committed before its blocks: short, or of the right length and zeros, or of older bytes.
        for count in stride(from: 0, to: whole.count, by: 7) {
            let rest = whole.count - count
            for tail in [[], [UInt8](repeating: 0, count: rest), pattern(rest)] {
                writeBytes(whole[..<count] + tail, file)
                #expect(DiskCache(path: cache.path).data(forKey: "k") == nil, "\(count) bytes and \(tail.count) others")
            }
            // A block in the middle that never reached the disk.
            var holed = whole
            for index in count..<min(count + 40, whole.count) { holed[index] = 0 }
            guard holed != whole else { continue }
            writeBytes(holed, file)
            #expect(DiskCache(path: cache.path).data(forKey: "k") == nil, "a hole at \(count)")
        }
    }

    @Test func `Trap 10: the limit holds after every store, for weeks`() async {
        let (directory, clock) = (TemporaryDirectory(), ManualClock())
        let limit = 1 << 20
        let cache = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = limit }
        var random = SeededGenerator(seed: 10)
        var worst = 0
        let start = clock.wallTime
        for number in 0..<8_000 {
            // Ten weeks in all, with idle nights.
            clock.advance(number % 400 == 0 ? 8 * 3600 : 680)
            let count = [300, 4_000, 9_000, 40_000][Int(random.next() % 4)]
            let key = "\(random.next() % 3_000)"
            #expect(cache.store(Data(repeating: 1, count: count), forKey: key))
            switch random.next() % 50 {
            case 0: cache.removeData(forKey: "\(random.next() % 3_000)")
            case 1..<10: _ = cache.data(forKey: "\(random.next() % 3_000)")
            case 10: unlink(cache.path + "/" + (names(in: cache.path).first { !$0.hasPrefix("CACHEDIR") } ?? ""))
            case 11: cache.removeExpiredData(timeLimit: 0.01)
            case 12: clock.jump(number % 2 == 0 ? 3600 : -3600)
            default: break
            }
            guard number % 8 == 0 else { continue }
            var size = 0
            DirectoryScan(path: cache.path).forEachEntry { _, status in
                size += status.allocatedSize
                return true
            }
            worst = max(worst, size)
        }
        #expect(clock.wallTime - start > 63 * 86_400)
        #expect(worst <= limit)
        #expect(cache.statistics.evictedCount > 1_000)
        #expect(cache.totalSize > limit / 4, "and it is no emptier than necessary")
        #expect(cache.verify().isEmpty)
    }

    @Test func `Trap 11: times are set and not left to the file system`() throws {
        let (directory, clock) = (TemporaryDirectory(), ManualClock())
        let cache = DiskCache.make(directory, clock: clock)
        let stored = clock.wallTime
        for key in ["read", "unread"] { cache.store(Data(pattern(100)), forKey: key) }
        let path = cache.cachePath(forKey: "read")
        func times() -> (accessed: Double, modified: Double) {
            let status = fileStatus(path)
            return (status.st_atim.seconds, status.st_mtim.seconds)
        }
        #expect(abs(times().accessed - stored) < 1 && abs(times().modified - stored) < 1)
        // The state in which a file system mounted with relatime keeps the access time: younger than the modification,
        // and not a day old. And the system could not have set the virtual time.
        for _ in 0..<5 {
            clock.advance(3600)
            #expect(cache.data(forKey: "read") != nil)
            #expect(abs(times().accessed - clock.wallTime) < 1 && abs(times().modified - stored) < 1)
        }
        // A check for existence is not a read, and other programs' reads do not change a file's age.
        let before = times().accessed
        clock.advance(3600)
        _ = cache.containsData(forKey: "read")
        _ = cache.extendedData(forKey: "read")
        _ = cache.entries()
        #expect(cache.verify().isEmpty && times().accessed == before)

        // The time of storing survives a copy of the file, which no time of a file on Linux does.
        let copy = readBytes(path)
        unlink(path)
        writeBytes(copy, path)
        setTimes(path, clock.wallTime)
        let entry = try #require(cache.entries().first { $0.key == "read" })
        #expect(abs(entry.created.timeIntervalSince1970 - stored) < 1)
        cache.config.diskCacheExpireType = .creationDate
        cache.config.maxDiskAge = clock.wallTime - stored - 60
        #expect(cache.removeExpiredData().expiredCount == 2)
    }
}
