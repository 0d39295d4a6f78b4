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
@testable import WebImageSupport

/// Damaged or forged files are not used.
@Suite(.tags(.addressSanitizer)) struct PartialDamageTests {
    private let harness = PartialStoreHarness()
    private let bytes = noise(20_000)

    @Test func `Damage to any part of a file is detected, and the part removed`() throws {
        harness.keep(bytes, in: harness.store())
        let file = try #require(harness.file())
        try PartialStoreHarness.write(file, to: harness.filePath())
        #expect(harness.claim(in: harness.store()) != nil, "without damage it is found")
        for index in Array(stride(from: 0, to: bytes.count, by: 397)) + Array(bytes.count..<file.count) {
            var damaged = file
            damaged[index] ^= 0x10
            try PartialStoreHarness.write(damaged, to: harness.filePath())
            #expect(harness.claim(in: harness.store()) == nil, "byte \(index)")
        }
        for count in stride(from: 0, to: file.count, by: 499) {
            try PartialStoreHarness.write(Array(file[..<count]), to: harness.filePath())
            #expect(harness.claim(in: harness.store()) == nil && harness.file() == nil, "\(count) bytes")
        }
    }

    @Test func `A file that is not a part is not used`() throws {
        let part = PartialDownload.sample(bytes, total: 65_536)
        let other = PartialDownload.sample(bytes, .plain("/b"))
        let much = PartialDownload.sample(bytes, total: 19_999)
        let little = PartialDownload.sample(Array(bytes[..<4095]))
        var bare = part.entry
        bare.extendedData = nil
        var odd = part.entry
        odd.extendedData = Data("{\"validator\": 7}".utf8)
        for entry in [other.entry, much.entry, little.entry, bare, odd] {
            #expect(PartialDownload(entry, key: part.head.key) == nil)
        }
        let read = try #require(PartialDownload(part.entry, key: part.head.key))
        #expect(read.head == part.head && read.bytes == part.bytes)
    }

    @Test func `Symbolic links are neither followed nor written through`() throws {
        harness.keep(bytes, .plain("/b"), in: harness.store())
        let victim = harness.directory.path("victim")
        try PartialStoreHarness.write([1, 2, 3], to: victim)
        #expect(symlink(victim, harness.filePath()) == 0)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(bytes, in: harness.store())
        #expect(PartialStoreHarness.bytes(victim) == [1, 2, 3])
    }

    @Test func `A world-writable directory is not used`() {
        #expect(mkdir(harness.path, 0o700) == 0)
        #expect(mkdir(harness.filesPath, 0o777) == 0 && chmod(harness.filesPath, 0o777) == 0)
        harness.keep(bytes, in: harness.store())
        #expect(harness.names.isEmpty)
    }

    @Test func `A failed write leaves the old part, and waiting callers are notified`() {
        let fails = Lock(false)
        var calls = FileCalls.system
        calls.writeAt = { file, bytes, count, offset in
            fails.withLock { $0 } ? -Int(EIO) : FileCalls.system.writeAt(file, bytes, count, offset)
        }
        calls.write = { file, bytes, count in
            fails.withLock { $0 } ? -Int(EIO) : FileCalls.system.write(file, bytes, count)
        }
        let store = harness.store(calls: calls)
        harness.keep(Array(bytes[..<5000]), in: store)
        fails.withLock { $0 = true }
        let isDone = Lock(false)
        store.save(.sample(bytes)) { isDone.withLock { $0 = true } }
        harness.run()
        #expect(isDone.withLock { $0 } && harness.claim(in: store)?.bytes.count == 5000)
        fails.withLock { $0 = false }
        harness.keep(bytes, in: store)
        #expect(harness.claim(in: store)?.bytes.count == 20_000)
    }
}
