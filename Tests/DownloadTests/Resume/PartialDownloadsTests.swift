import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Parts on disk: the next process finds them whole or not at all.
@Suite(.tags(.threadSanitizer)) struct PartialDownloadsTests {
    private let harness = PartialStoreHarness()
    private let bytes = noise(20_000)

    @Test func `The next process finds the parts of the last one`() throws {
        harness.keep(bytes, total: 65_536, in: harness.store())
        let part = try #require(harness.claim(in: harness.store()))
        #expect([UInt8](part.bytes) == bytes && part.start == 20_000 - 4096)
        #expect(part.head.key == PartialKey(.plain) && part.head.validator == .entityTag("\"one\""))
        #expect(part.head.total == 65_536 && part.head.contentType == "image/jpeg")
    }

    @Test func `Where no parts exist callers do not wait, once that is known`() {
        let store = harness.store()
        #expect(store.find(.plain, limit: .max) { _ in }, "the directory has not been looked at")
        harness.run()
        #expect(!store.find(.plain, limit: .max) { _ in })
        harness.keep(bytes, in: store)
        #expect(!store.find(.plain("/other"), limit: .max) { _ in })
        #expect(harness.claim(in: store) != nil)
        #expect(!FileManager.default.fileExists(atPath: harness.directory.path("other")))
    }

    @Test func `Lookups create no directory, and writes create a private one`() throws {
        let store = harness.store()
        #expect(harness.claim(in: store) == nil)
        #expect(!FileManager.default.fileExists(atPath: harness.path))
        harness.keep(bytes, in: store)
        var status = stat()
        #expect(stat(harness.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(harness.filePath(), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `Parts of other processes are found after a while`() throws {
        let (one, other) = (harness.store(), harness.store())
        #expect(harness.claim(in: one) == nil)
        harness.keep(bytes, in: other)
        #expect(harness.claim(in: one) == nil, "it was not there when the directory was read")
        harness.clock.advance(11)
        #expect(harness.claim(in: one) == nil, "nothing waits for the second scan")
        #expect(harness.claim(in: one) != nil)
    }

    @Test func `Of pending writes of a part only the latest is done`() {
        let store = harness.store()
        let ends = Lock(0)
        store.save(.sample(Array(bytes[..<5000])))
        store.save(.sample(Array(bytes[..<6000])))
        store.save(.sample(bytes)) { ends.withLock { $0 += 1 } }
        #expect(harness.queue.waitingCount == 2, "one job writes, and one completes")
        harness.run()
        #expect(ends.withLock { $0 } == 1)
        #expect(harness.claim(in: store)?.bytes.count == bytes.count)
    }

    @Test func `A removed part is gone, also if its write was pending`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        store.save(.sample(bytes + bytes))
        store.remove(PartialDownload.sample([]).head.key)
        harness.run()
        #expect(harness.sizes.isEmpty && harness.claim(in: store) == nil)
        store.remove(PartialDownload.sample([]).head.key)
        harness.keep(bytes, in: store)
        #expect(harness.claim(in: store) != nil)
    }

    @Test func `A part with a pending write is found when the directory is read`() {
        let store = harness.store()
        _ = harness.claim(in: store)
        harness.clock.advance(11)
        _ = store.find(.plain, limit: .max) { _ in }
        store.save(.sample(bytes))
        #expect(harness.claim(in: store) != nil)
    }

    @Test func `A new body replaces another`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        let new = noise(6000, seed: 9)
        harness.keep(new, in: store)
        #expect(harness.claim(in: harness.store()).map { [UInt8]($0.bytes) } == new)
    }

    @Test func `A part above the caller's size limit stays for others`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        #expect(harness.claim(limit: bytes.count - 1, in: store) == nil)
        #expect(harness.claim(limit: bytes.count, in: store) != nil)
    }

    @Test func `Everything can be removed`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        harness.keep(bytes, .plain("/b"), in: store)
        let isDone = Lock(false)
        store.removeAll { isDone.withLock { $0 = true } }
        harness.run()
        #expect(isDone.withLock { $0 } && harness.names.isEmpty)
        #expect(!store.find(.plain, limit: .max) { _ in }, "and that is known")
    }

    @Test func `A cache in the same directory and the parts do not affect each other`() {
        let cache = DiskCache(path: harness.path)
        cache.store(Data(bytes), forKey: "image")
        let store = harness.store(limits: .init(byteCount: 30_000, age: 3600))
        harness.keep(bytes, in: store)
        harness.clock.advance(1)
        harness.keep(bytes, .plain("/b"), in: store)
        #expect(cache.containsData(forKey: "image") && cache.totalCount == 1)
        cache.removeAllData()
        #expect(harness.claim(.plain("/b"), in: store) != nil)
        store.removeAll()
        harness.run()
        #expect(harness.names.isEmpty)
    }
}
