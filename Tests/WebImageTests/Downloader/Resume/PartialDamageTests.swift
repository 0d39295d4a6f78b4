import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImage

/// What is not as it was written, or not what it seems, is not used.
@Suite struct PartialDamageTests {
    private let harness = PartialStoreHarness()
    private let bytes = noise(20_000)

    @Test func `Damage of any byte of the head is found, and the part removed`() throws {
        harness.keep(bytes, in: harness.store())
        let file = try #require(harness.file())
        try PartialStoreHarness.write(file, to: harness.filePath())
        #expect(harness.claim(in: harness.store()) != nil, "without damage it is found")
        harness.run()
        for index in 0..<PartialHead.byteCount {
            var damaged = file
            damaged[index] ^= 0x10
            try PartialStoreHarness.write(damaged, to: harness.filePath())
            #expect(harness.claim(in: harness.store()) == nil && harness.file() == nil, "byte \(index)")
        }
    }

    @Test func `Damage of the bytes is found, and the part removed`() throws {
        harness.keep(bytes, in: harness.store())
        let file = try #require(harness.file())
        for index in stride(from: PartialHead.byteCount, to: file.count, by: 397) {
            var damaged = file
            damaged[index] ^= 1
            try PartialStoreHarness.write(damaged, to: harness.filePath())
            #expect(harness.claim(in: harness.store()) == nil && harness.file() == nil, "byte \(index)")
        }
    }

    @Test func `A file that ends early is removed`() throws {
        harness.keep(bytes, in: harness.store())
        let file = try #require(harness.file())
        for count in stride(from: 0, to: file.count, by: 499) {
            try PartialStoreHarness.write(Array(file[..<count]), to: harness.filePath())
            #expect(harness.claim(in: harness.store()) == nil && harness.file() == nil, "\(count) bytes")
        }
    }

    @Test func `Bytes that the head does not tell of do not count, and are written over`() throws {
        harness.keep(bytes, in: harness.store())
        let file = try #require(harness.file())
        // A writer died between the bytes and the head.
        try PartialStoreHarness.write(file + noise(3000, seed: 7), to: harness.filePath())
        let store = harness.store()
        let part = try #require(harness.claim(in: store))
        #expect([UInt8](part.bytes) == bytes)
        let more = bytes + noise(1000, seed: 8)
        part.writer?.close(saving: Data(more))
        harness.run()
        #expect(harness.claim(in: harness.store()).map { [UInt8]($0.bytes) } == more)
    }

    @Test func `A part of another key under the name is left alone`() throws {
        harness.keep(bytes, .plain("/b"), in: harness.store())
        let file = try #require(harness.file(.plain("/b")))
        try PartialStoreHarness.write(file, to: harness.filePath())
        #expect(harness.claim(in: harness.store()) == nil)
        #expect(harness.file() == file)
    }

    @Test func `Symbolic links are neither followed nor written through`() throws {
        harness.keep(bytes, .plain("/b"), in: harness.store())
        let victim = harness.directory.path("victim")
        try PartialStoreHarness.write([1, 2, 3], to: victim)
        #expect(symlink(victim, harness.filePath()) == 0)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(bytes, in: harness.store())
        #expect(PartialStoreHarness.bytes(victim) == [1, 2, 3])
        // Not even to a good part.
        unlink(harness.filePath())
        #expect(symlink(harness.filePath(.plain("/b")), harness.filePath()) == 0)
        #expect(harness.claim(in: harness.store()) == nil)
    }

    @Test func `Files with a second name, pipes and directories are not touched`() throws {
        harness.keep(bytes, in: harness.store())
        let other = harness.directory.path("other")
        #expect(link(harness.filePath(), other) == 0)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(noise(9000), in: harness.store())
        #expect(PartialStoreHarness.bytes(other)?.count == bytes.count + PartialHead.byteCount)
        unlink(harness.filePath())
        #expect(mkfifo(harness.filePath(), 0o600) == 0)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(bytes, in: harness.store())
        unlink(harness.filePath())
        #expect(mkdir(harness.filePath(), 0o700) == 0)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(bytes, in: harness.store())
        #expect(rmdir(harness.filePath()) == 0, "it is still an empty directory")
    }

    @Test func `A directory that everybody may write to is not used`() {
        #expect(mkdir(harness.path, 0o777) == 0 && chmod(harness.path, 0o777) == 0)
        harness.keep(bytes, in: harness.store())
        #expect(harness.sizes.isEmpty)
    }

    @Test func `A write that fails leaves nothing, and the next body is kept`() {
        let faults = Lock(0)
        var calls = FileCalls.system
        calls.writeAt = { file, bytes, count, offset in
            let fails = faults.withLock { count -> Bool in
                count += 1
                return count == 3
            }
            return fails ? -Int(ENOSPC) : FileCalls.system.writeAt(file, bytes, count, offset)
        }
        let store = harness.store(calls: calls)
        let writer = store.writer(for: .sample())
        writer.save(Data(bytes[..<5000]))
        harness.run()
        #expect(harness.sizes.count == 1)
        writer.save(Data(bytes))
        harness.run()
        #expect(harness.sizes.isEmpty)
        let isDone = Lock(false)
        writer.close(saving: Data(bytes)) { isDone.withLock { $0 = true } }
        harness.run()
        #expect(isDone.withLock { $0 } && harness.sizes.isEmpty, "whoever waits is told")
        harness.keep(bytes, in: store)
        #expect(harness.claim(in: store) != nil)
    }

    @Test func `Writes that are short or interrupted are gone on with`() {
        let count = Lock(0)
        var calls = FileCalls.system
        calls.writeAt = { file, bytes, byteCount, offset in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            if number % 2 == 0 { return -Int(EINTR) }
            return FileCalls.system.writeAt(file, bytes, min(byteCount, 777), offset)
        }
        harness.keep(bytes, in: harness.store(calls: calls))
        #expect(harness.claim(in: harness.store()).map { [UInt8]($0.bytes) } == bytes)
    }

    @Test func `Every file that was opened is closed`() {
        let open = Lock(0)
        var calls = FileCalls.system
        calls.open = { directory, path, flags in
            let file = FileCalls.system.open(directory, path, flags)
            if file >= 0 { open.withLock { $0 += 1 } }
            return file
        }
        calls.close = { file in
            open.withLock { $0 -= 1 }
            return FileCalls.system.close(file)
        }
        let (one, other) = (harness.store(calls: calls), harness.store(calls: calls))
        harness.keep(bytes, in: one)
        var part = harness.claim(in: one)
        #expect(part != nil && harness.claim(in: other) == nil)
        harness.keep(bytes, in: other)
        part?.writer?.remove()
        harness.run()
        part = nil
        harness.keep(bytes, in: one)
        part = harness.claim(in: other)
        part = nil
        harness.run()
        #expect(open.withLock { $0 } == 0)
    }
}
