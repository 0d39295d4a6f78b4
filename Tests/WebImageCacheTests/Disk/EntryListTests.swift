import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImageCache

/// Enumerating the entries of a directory.
@Suite struct EntryListTests {
    private let directory = TemporaryDirectory.inMemory()

    private func key(_ number: Int) -> String { "http://h/\(number)?" + String(repeating: "x", count: 1000) }

    @Test func `Many entries are returned one by one, each once`() {
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
        #expect(mostAhead == 0, "an entry is read when the one before has been returned")
    }
}
