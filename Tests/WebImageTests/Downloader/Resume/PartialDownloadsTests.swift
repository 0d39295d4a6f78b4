import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImage

/// Parts on disk: found by the next process, whole or not at all, and by one at a time.
@Suite struct PartialDownloadsTests {
    private let harness = PartialStoreHarness()
    private let bytes = noise(20_000)

    @Test func `The next process finds what one has left`() throws {
        harness.keep(bytes, total: 65_536, in: harness.store())
        let part = try #require(harness.claim(in: harness.store()))
        #expect([UInt8](part.bytes) == bytes && part.start == 20_000 - 4096)
        #expect(part.head.key == PartialKey(.plain) && part.head.validator == .entityTag("\"one\""))
        #expect(part.head.total == 65_536 && part.head.contentType == "image/jpeg")
    }

    @Test func `Where nothing is kept nobody waits, once that is known`() {
        let store = harness.store()
        #expect(store.claim(.plain, limit: .max) { _ in }, "the directory has not been looked at")
        harness.run()
        #expect(!store.claim(.plain, limit: .max) { _ in })
        harness.keep(bytes, in: store)
        #expect(!store.claim(.plain("/other"), limit: .max) { _ in })
        #expect(harness.claim(in: store) != nil)
        #expect(!FileManager.default.fileExists(atPath: harness.directory.path("other")))
    }

    @Test func `Looking makes no directory, and writing one of this user's alone`() throws {
        let store = harness.store()
        #expect(harness.claim(in: store) == nil)
        #expect(!FileManager.default.fileExists(atPath: harness.path))
        harness.keep(bytes, in: store)
        var status = stat()
        #expect(stat(harness.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(harness.filePath(), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `What other processes leave is found after a while`() throws {
        let (one, other) = (harness.store(), harness.store())
        #expect(harness.claim(in: one) == nil)
        harness.keep(bytes, in: other)
        #expect(harness.claim(in: one) == nil, "it was not there when the directory was read")
        harness.clock.advance(11)
        #expect(harness.claim(in: one) == nil, "nobody waits for the second look")
        #expect(harness.claim(in: one) != nil)
    }

    @Test func `A body is added to, and all of it is found`() throws {
        let store = harness.store()
        var writer: PartialWriter? = store.writer(for: .sample())
        for count in [5000, 5001, 9000, 20_000] {
            writer?.save(Data(bytes[..<count]))
            harness.run()
            #expect(harness.file()?.count == count + PartialHead.byteCount)
        }
        writer?.close()
        harness.run()
        let part = try #require(harness.claim(in: store))
        #expect([UInt8](part.bytes) == bytes)
        writer = part.writer
        let more = bytes + noise(3000, seed: 2)
        writer?.save(Data(more))
        writer?.close()
        harness.run()
        #expect(harness.claim(in: harness.store()).map { [UInt8]($0.bytes) } == more)
    }

    @Test func `Of bytes that wait to be written only the latest are`() {
        let store = harness.store()
        let ends = Lock(0)
        let writer = store.writer(for: .sample())
        writer.save(Data(bytes[..<5000]))
        writer.save(Data(bytes[..<6000]))
        writer.close { ends.withLock { $0 += 1 } }
        writer.close(saving: Data(bytes)) { ends.withLock { $0 += 1 } }
        #expect(harness.queue.waitingCount == 1)
        harness.run()
        #expect(ends.withLock { $0 } == 2)
        #expect(harness.claim(in: store)?.bytes.count == bytes.count)
    }

    @Test func `A part has one owner at a time`() throws {
        let (one, other) = (harness.store(), harness.store())
        harness.keep(bytes, in: one)
        var part = harness.claim(in: one)
        #expect(part != nil)
        #expect(harness.claim(in: other) == nil && harness.claim(in: one) == nil)
        harness.keep(noise(9000), in: other)
        #expect(harness.file()?.count == bytes.count + PartialHead.byteCount, "nor is it written by another")
        part?.writer?.close()
        harness.run()
        #expect(harness.claim(in: other).map { [UInt8]($0.bytes) } == bytes)
        part = nil
        harness.run()
    }

    @Test func `An owner that just goes away gives the part back`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        var part = harness.claim(in: store)
        withExtendedLifetime(part) {}
        part = nil
        harness.run()
        #expect(harness.claim(in: store) != nil)
    }

    @Test func `A removed part is gone, and nothing brings it back`() {
        let store = harness.store()
        let writer = store.writer(for: .sample())
        writer.save(Data(bytes))
        harness.run()
        writer.save(Data(bytes + bytes))
        writer.remove()
        harness.run()
        writer.save(Data(bytes + bytes))
        writer.close()
        harness.run()
        #expect(harness.sizes.isEmpty)
        #expect(harness.claim(in: store) == nil)
        #expect(!store.claim(.plain, limit: .max) { _ in }, "and that is known")
    }

    @Test func `A new body takes the place of another`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        let new = noise(6000, seed: 9)
        harness.keep(new, in: store)
        #expect(harness.claim(in: harness.store()).map { [UInt8]($0.bytes) } == new)
    }

    @Test func `A part that is bigger than what may be received stays for others`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        #expect(harness.claim(limit: bytes.count - 1, in: store) == nil)
        #expect(harness.claim(limit: bytes.count, in: store) != nil)
    }

    @Test func `Everything can be removed but what is being written`() {
        let store = harness.store()
        harness.keep(bytes, in: store)
        harness.keep(bytes, .plain("/b"), in: store)
        let part = harness.claim(.plain("/b"), in: store)
        let isDone = Lock(false)
        store.removeAll { isDone.withLock { $0 = true } }
        harness.run()
        #expect(isDone.withLock { $0 } && part != nil)
        #expect(harness.file() == nil && harness.file(.plain("/b")) != nil)
        #expect(harness.claim(in: store) == nil)
    }
}
