import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct DiskCacheCrashTests {
    @Test func `After 200 kills during stores every readable entry equals what was stored`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path("cache")
        var survivors = 0
        for round in 0..<200 {
            // Some stores have ended and others have begun, so that kills hit every step of a store.
            let process = try HelperProcess(
                "test-program",
                ["cache-hammer", "store", path, "\(round)", "\(round * 7 % 1_000 + 1)"]
            )
            #expect(await process.wait() == 128 + SIGKILL)
            let cache = DiskCache(path: path)
            for number in 0..<200 {
                guard let entry = cache.entry(forKey: HammerImage.key(number)) else { continue }
                survivors += 1
                #expect(HammerImage.isWhole(entry.data, number: number))
                // Also those whose amendment was in progress.
                #expect(HammerImage.isWhole(etag: entry.validators?.etag, number: number))
            }
            #expect(cache.statistics.damagedCount == 0)
        }
        #expect(survivors > 1000)
        let cache = DiskCache(path: path)
        #expect(cache.verify() == [])
        for entry in cache.entries() {
            let number = Int(entry.key.split(separator: "/").last?.dropLast(4) ?? "")
            #expect(number.map { HammerImage.key($0) } == entry.key)
            let extended = cache.extendedData(forKey: entry.key).map { String(decoding: $0, as: UTF8.self) } ?? ""
            #expect(extended.hasPrefix("extended ") || extended.hasPrefix("again "))
        }
    }

    @Test func `Files left by killed writers are removed once they are old, and never counted`() throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let old = directory.path(EntryWriter.temporaryName())
        let young = directory.path(EntryWriter.temporaryName())
        let foreign = directory.path(".webimage-notes")
        for path in [old, young, foreign] {
            #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
        }
        setTimes(old, clock.wallTime - 1000)
        setTimes(young, clock.wallTime - 10)
        setTimes(foreign, clock.wallTime - 1000)
        let cache = DiskCache(path: directory.path, config: ImageCacheConfig(), clock: clock.source)
        #expect(!exists(old))
        #expect(exists(young))
        #expect(exists(foreign))
        #expect(cache.totalCount == 0)
        #expect(cache.totalSize == 0)
        clock.advance(2000)
        cache.removeExpiredData()
        #expect(!exists(young))
        #expect(exists(foreign))
    }

    @Test func `Two processes store and read 1 000 keys in one directory without an error or a wrong byte`()
        async throws
    {
        let directory = TemporaryDirectory()
        let path = directory.path("cache")
        let processes = try (0..<2).map {
            try HelperProcess("test-program", ["cache-hammer", "share", path, "\($0 + 77)", "1000"])
        }
        for process in processes {
            let line = await process.readLine() ?? "nothing"
            #expect(line.hasPrefix("hits "), "\(line)")
            #expect(await process.wait() == 0)
        }
        let cache = DiskCache(path: path)
        #expect(cache.totalCount == 1000)
        for number in 0..<1000 {
            let data = try #require(cache.data(forKey: HammerImage.key(number)))
            #expect(HammerImage.isWhole(data, number: number))
        }
        #expect(cache.verify() == [])
    }
}
