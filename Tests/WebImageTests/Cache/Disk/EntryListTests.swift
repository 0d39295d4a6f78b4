import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// Going through the entries of a directory.
@Suite struct EntryListTests {
    private let directory = TemporaryDirectory()

    /// A key that takes a kilobyte, so that a list of them would show.
    private func key(_ number: Int) -> String { "http://h/\(number)?" + String(repeating: "x", count: 1000) }

    @Test func `Many entries are told one by one, each once`() {
        let opened = Lock(0)
        var calls = FileCalls.system
        calls.open = { directory, path, flags in
            if flags & O_DIRECTORY == 0 { opened.withLock { $0 += 1 } }
            return FileCalls.system.open(directory, path, flags)
        }
        let cache = DiskCache.make(directory, calls: calls)
        for number in 0..<2_000 { cache.store(Data([1, 2, 3]), forKey: key(number)) }
        writeBytes([1], cache.path + "/no entry")
        opened.withLock { $0 = 0 }
        var keys: Set<String> = []
        var count = 0
        var mostAhead = 0
        cache.forEachEntry { entry in
            count += 1
            mostAhead = max(mostAhead, opened.withLock { $0 } - count)
            #expect(entry.byteCount == 3 && entry.path == cache.cachePath(forKey: entry.key))
            keys.insert(entry.key)
        }
        #expect(count == 2_000 && keys == Set((0..<2_000).map(key)))
        #expect(mostAhead == 0, "an entry is read when the one before has been told")
    }

    @Test func `Going through many entries takes as much memory as going through a few`() throws {
        let cache = DiskCache.make(directory)
        func cost() throws -> (count: Int, bytes: Int) {
            let run = try ProgramRun(ProgramRun.product("hit-cost"), ["list", cache.path])
            #expect(run.status == 0, "\(run.errors)")
            let numbers = (run.lines.first ?? "").split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 2, "\(run.output)")
            return (numbers[0], numbers[1])
        }
        for number in 0..<100 { cache.store(Data([1]), forKey: key(number)) }
        let few = try cost()
        for number in 100..<4_000 { cache.store(Data([1]), forKey: key(number)) }
        let many = try cost()
        #expect(few.count == 100 && many.count == 4_000)
        // The keys alone would be four megabytes.
        #expect(few.bytes > 1_000 && many.bytes < 128 << 10, "\(few.bytes) and \(many.bytes) bytes")
        #expect(many.bytes <= few.bytes + 16 << 10, "\(few.bytes) and \(many.bytes) bytes")
    }
}
