import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct DiskCacheTests {
    let directory = TemporaryDirectory()
    let clock = ManualClock()
    let key = "http://h/a.jpg"
    let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func make(_ change: (inout ImageCacheConfig) -> Void = { _ in }) -> DiskCache {
        .make(directory, clock: clock, change)
    }

    @Test func `A stored entry is read, by another object too`() {
        let cache = make()
        #expect(cache.data(forKey: key) == nil)
        #expect(!cache.containsData(forKey: key))
        #expect(cache.store(bytes, forKey: key))
        #expect(cache.data(forKey: key) == bytes)
        #expect(cache.containsData(forKey: key))
        #expect(make().data(forKey: key) == bytes)
        #expect(cache.statistics.hitCount == 1)
        #expect(cache.statistics.missCount == 1)
        #expect(cache.statistics.storeCount == 1)
    }

    @Test func `The file starts with the stored bytes`() {
        let cache = make()
        cache.store(bytes, forKey: key)
        let path = cache.cachePath(forKey: key)
        #expect(path == directory.path("cache/") + Hashing.md5Hex(key) + ".jpg")
        #expect(readBytes(path).starts(with: bytes))
        #expect(fileStatus(path).st_mode & 0o777 == 0o600)
    }

    @Test(arguments: [0, 1, 4095, 4096, 65_535, 65_536, 1_000_000]) func `Data of any length is read back`(count: Int) {
        let data = Data(pattern(count))
        for mapped in [false, true] {
            let cache = make { $0.mapsDiskData = mapped }
            cache.store(data, forKey: key)
            #expect(cache.data(forKey: key) == data)
        }
    }

    @Test func `Two keys with the same MD5 are not served each other's image`() {
        // By Marc Stevens, 2024: 72 letters and digits that differ in one.
        let keys = ["A", "E"].map {
            "TEXTCOLLBYfGiJUETHQ4h\($0)cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak"
        }
        #expect(Hashing.md5Hex(keys[0]) == Hashing.md5Hex(keys[1]))
        let cache = make()
        cache.store(Data([1]), forKey: keys[0])
        #expect(cache.data(forKey: keys[1]) == nil && cache.validators(forKey: keys[1]) == nil)
        cache.store(Data([2]), forKey: keys[1])
        for cache in [cache, make()] {
            #expect([nil, Data([1])].contains(cache.data(forKey: keys[0])))
            #expect([nil, Data([2])].contains(cache.data(forKey: keys[1])))
            #expect(cache.data(forKey: keys[0]) != nil || cache.data(forKey: keys[1]) != nil, "one of them is there")
        }
        cache.removeData(forKey: keys[0])
        #expect([nil, Data([2])].contains(cache.data(forKey: keys[1])))
    }

    @Test func `A slice of data is stored with its own bytes`() {
        let cache = make()
        cache.store(bytes[100..<200], forKey: key)
        #expect(cache.data(forKey: key) == bytes[100..<200])
    }

    @Test func `An empty key stores and finds nothing`() {
        let cache = make()
        #expect(!cache.store(bytes, forKey: ""))
        #expect(cache.data(forKey: "") == nil)
        #expect(!cache.containsData(forKey: ""))
        cache.setExtendedData(bytes, forKey: "")
        cache.removeData(forKey: "")
        #expect(cache.totalCount == 0)
    }

    @Test func `Any text can be a key`() {
        let cache = make()
        let keys = [
            " ", "/", "..", "\0", "é", "e\u{301}", "\u{E9}", String(repeating: "x", count: 100_000),
            "data:image/png;base64,AA==",
            "http://h/" + String(repeating: "a.", count: 500), "\n\t", "😀.png",
        ]
        for (index, key) in keys.enumerated() { #expect(cache.store(Data([UInt8(index)]), forKey: key)) }
        // "é" and the one composed of the same scalar are the same bytes.
        for (index, key) in keys.enumerated() where index != 4 {
            #expect(cache.data(forKey: key) == Data([UInt8(index)]))
        }
        #expect(Set(cache.entries().map { Array($0.key.utf8) }) == Set(keys.map { Array($0.utf8) }))
    }

    @Test func `Storing again replaces an entry, unless overwriting is disabled`() {
        let cache = make()
        cache.store(bytes, forKey: key, extendedData: Data([1]))
        cache.store(Data([2]), forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: Data([2])))
        let careful = make { $0.writesWithoutOverwriting = true }
        #expect(careful.store(Data([3]), forKey: key))
        #expect(careful.data(forKey: key) == Data([2]))
        #expect(careful.store(Data([4]), forKey: "other"))
        #expect(careful.data(forKey: "other") == Data([4]))
        #expect(names(in: careful.path).count == 3)
    }

    @Test func `Removing removes one entry, or nothing if there is none`() {
        let cache = make()
        cache.store(bytes, forKey: "a")
        cache.store(bytes, forKey: "b")
        #expect(cache.containsData(forKey: "a") && cache.containsData(forKey: "b") && !cache.containsData(forKey: "c"))
        cache.removeData(forKey: "a")
        cache.removeData(forKey: "c")
        #expect(cache.data(forKey: "a") == nil && !cache.containsData(forKey: "a"))
        #expect(cache.data(forKey: "b") == bytes && cache.containsData(forKey: "b"))
    }

    @Test func `Removing everything leaves files that the cache did not create`() {
        let cache = make()
        for number in 0..<50 { cache.store(bytes, forKey: "\(number)") }
        let mine = cache.path + "/holiday.jpg"
        writeBytes([1], mine)
        // Another process may be writing this; it is swept once it is old.
        let writing = EntryWriter.temporaryName()
        writeBytes([1], cache.path + "/" + writing)
        cache.removeAllData()
        #expect(Set(names(in: cache.path)) == ["CACHEDIR.TAG", "holiday.jpg", writing])
        #expect(cache.store(bytes, forKey: key))
    }

    @Test func `Extended data is stored and removed with the entry`() {
        let cache = make()
        cache.setExtendedData(Data([1]), forKey: key)
        #expect(cache.extendedData(forKey: key) == nil)
        #expect(!cache.containsData(forKey: key))
        cache.store(bytes, forKey: key)
        #expect(cache.extendedData(forKey: key) == nil)
        let big = Data(repeating: 5, count: 100_000)
        cache.setExtendedData(big, forKey: key)
        #expect(cache.extendedData(forKey: key) == big)
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes, extendedData: big))
        cache.setExtendedData(nil, forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes))
        cache.store(bytes, forKey: key, extendedData: Data())
        #expect(cache.extendedData(forKey: key) == Data())
    }

    @Test func `Extended data keeps the entry's times and later versions' records`() throws {
        let cache = make()
        cache.store(bytes, forKey: key)
        let before = try #require(cache.entries().first)
        clock.advance(100)
        cache.setExtendedData(Data([1]), forKey: key)
        let after = try #require(cache.entries().first)
        #expect(after.created == before.created)
        #expect(after.modified == before.modified)
        #expect(after.accessed == before.accessed)
        // A record with an unknown tag survives.
        var trailer = EntryTrailer(key: key, created: 5)
        trailer.records = [EntryTrailer.Record(tag: 99, bytes: Data([9]))]
        let hash = bytes.withUnsafeBytes { Hashing.xxh3($0) }
        let tail = try #require(trailer.encoded(bodyLength: bytes.count, bodyHash: hash))
        writeBytes([UInt8](bytes) + tail, cache.cachePath(forKey: key))
        cache.setExtendedData(Data([2]), forKey: key)
        #expect(cache.read(key)?.trailer.records.map(\.tag) == [99, EntryTrailer.Tag.extendedData])
        #expect(cache.read(key)?.trailer.created == 5)
    }

    @Test func `Reading sets only the access time, at most once a second`() {
        let cache = make()
        cache.store(bytes, forKey: key)
        let path = cache.cachePath(forKey: key)
        let stored = fileStatus(path)
        #expect(stored.st_atim.seconds == clock.wallTime)
        clock.advance(0.5)
        _ = cache.data(forKey: key)
        #expect(fileStatus(path).st_atim.seconds == stored.st_atim.seconds)
        clock.advance(60)
        _ = cache.data(forKey: key)
        #expect(fileStatus(path).st_atim.seconds == clock.wallTime)
        #expect(fileStatus(path).st_mtim.seconds == stored.st_mtim.seconds)
        // Also after the clock was set back.
        clock.jump(-1000)
        _ = cache.data(forKey: key)
        #expect(fileStatus(path).st_atim.seconds == clock.wallTime)
        // A check for existence is not a read.
        clock.advance(60)
        let last = fileStatus(path).st_atim.seconds
        _ = cache.containsData(forKey: key)
        _ = cache.extendedData(forKey: key)
        _ = cache.entries()
        _ = cache.verify()
        #expect(fileStatus(path).st_atim.seconds == last)
    }

    @Test func `Entries have key, path, sizes and times`() throws {
        let cache = make()
        cache.store(bytes, forKey: key, extendedData: Data(repeating: 1, count: 9000))
        let start = clock.wallTime
        clock.advance(10)
        _ = cache.data(forKey: key)
        let entry = try #require(cache.entries().first)
        #expect(entry.key == key)
        #expect(entry.path == cache.cachePath(forKey: key))
        #expect(entry.byteCount == bytes.count)
        #expect(entry.allocatedSize >= bytes.count + 9000)
        #expect(entry.created.timeIntervalSince1970 == start)
        #expect(entry.modified.timeIntervalSince1970 == start)
        #expect(entry.accessed.timeIntervalSince1970 == start + 10)
        #expect(cache.totalCount == 1)
        #expect(cache.totalSize == Int(fileStatus(entry.path).st_size))
    }

    @Test func `Any number of threads may store, read and remove`() async {
        let cache = make()
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    for _ in 0..<200 {
                        let number = Int.random(in: 0..<10, using: &random)
                        let key = HammerImage.key(number)
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0: cache.removeData(forKey: key)
                        case 1: cache.setExtendedData(Data([1]), forKey: key)
                        case 2...5: cache.store(HammerImage.bytes(number, version: task), forKey: key)
                        default:
                            if let data = cache.data(forKey: key), !HammerImage.isWhole(data, number: number) {
                                return false
                            }
                        }
                    }
                    return true
                }
            }
            for await isGood in group { #expect(isGood) }
        }
        #expect(cache.statistics.damagedCount == 0)
        #expect(cache.statistics.failedStoreCount == 0)
        #expect(!names(in: cache.path).contains { $0.hasSuffix(".tmp") })
    }

    @Test func `Random operations match a dictionary`() {
        let cache = make()
        var model: [String: CachedImageData] = [:]
        var random = SeededGenerator(seed: 4)
        for step in 0..<3000 {
            let key = "http://h/\(Int.random(in: 0..<20, using: &random)).png"
            let value = Data("\(step)".utf8)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3:
                let extended = Bool.random(using: &random) ? value : nil
                cache.store(value, forKey: key, extendedData: extended)
                model[key] = CachedImageData(data: value, extendedData: extended)
            case 4:
                cache.removeData(forKey: key)
                model[key] = nil
            case 5:
                cache.setExtendedData(value, forKey: key)
                model[key]?.extendedData = value
            case 6 where step % 50 == 0:
                cache.removeAllData()
                model = [:]
            case 7:
                #expect(cache.containsData(forKey: key) == (model[key] != nil))
            case 8:
                #expect(cache.extendedData(forKey: key) == model[key]?.extendedData)
            default:
                #expect(cache.entry(forKey: key) == model[key])
            }
        }
        #expect(cache.totalCount == model.count)
        #expect(Set(cache.entries().map(\.key)) == Set(model.keys))
    }
}
