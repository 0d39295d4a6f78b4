import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageSupport

/// Changes of an entry's metadata without rewriting its image.
@Suite struct EntryAmendTests {
    let directory = TemporaryDirectory()
    let clock = ManualClock()
    let key = "http://h/a.jpg"
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

    private func make(_ calls: FileCalls = .system, _ change: (inout ImageCacheConfig) -> Void = { _ in }) -> DiskCache
    {
        .make(directory, clock: clock, calls: calls, change)
    }

    private func amend(_ cache: DiskCache, _ number: Int, padding: Int = 0) {
        cache.amend(extendedData: nil, validators: StoredRecords.validators(number, padding: padding), forKey: key)
    }

    private func number(_ cache: DiskCache) -> Int? { StoredRecords.number(of: cache.entry(forKey: key)?.validators) }

    @Test(arguments: [false, true]) func `An amendment keeps the file, its bytes and its times`(isMapped: Bool) throws {
        let cache = make { $0.mapsDiskData = isMapped }
        cache.store(StoredRecords.entry(bytes, 1, extendedData: Data([7])), forKey: key)
        let path = cache.cachePath(forKey: key)
        let before = try #require(EntryFile(path: path))
        #expect(before.footer.slotSize == 512 && before.body == bytes)
        for number in 2..<20 {
            clock.advance(100)
            // The test's own reads set the access time.
            let status = fileStatus(path)
            amend(cache, number)
            let now = fileStatus(path)
            let after = try #require(EntryFile(path: path))
            #expect(now.st_ino == status.st_ino && now.st_size == status.st_size)
            #expect(now.st_mtim.nanoseconds == status.st_mtim.nanoseconds)
            #expect(now.st_atim.nanoseconds == status.st_atim.nanoseconds)
            let changed = after.slot(after.content?.index ?? 0)
            #expect(after.content?.index == (number + 1) % 2 && after.content?.sequence == UInt64(number))
            var expected = before.bytes
            expected.replaceSubrange(before.footer.slotsRange, with: after.bytes[before.footer.slotsRange])
            #expect(after.bytes == expected, "nothing but the slots")
            #expect(changed.count == 512)
            #expect(cache.validators(forKey: key) == StoredRecords.validators(number))
        }
        let expected = StoredRecords.entry(bytes, 19, extendedData: Data([7]))
        #expect(cache.entry(forKey: key) == expected && make().entry(forKey: key) == expected)
        #expect(cache.statistics.storeCount == 1 && cache.statistics.amendCount == 18)
        #expect(cache.verify() == [])
    }

    @Test func `An amendment does not read the body`() {
        let reads = Lock(0)
        var calls = FileCalls.system
        calls.read = { file, buffer, count in
            reads.withLock { $0 += 1 }
            return FileCalls.system.read(file, buffer, count)
        }
        calls.write = { _, _, _ in -Int(EIO) }
        make().store(StoredRecords.entry(bytes, 1), forKey: key)
        let cache = make(calls)
        amend(cache, 2)
        #expect(reads.withLock { $0 } == 0 && cache.statistics.failedStoreCount == 0)
        #expect(number(make()) == 2)
    }

    @Test func `Without a change nothing is written`() {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1, extendedData: Data([1])), forKey: key)
        let before = readBytes(cache.cachePath(forKey: key))
        amend(cache, 1)
        cache.amend(extendedData: Data([1]), validators: StoredRecords.validators(1), forKey: key)
        #expect(readBytes(cache.cachePath(forKey: key)) == before)
        #expect(cache.statistics.amendCount == 0 && cache.statistics.storeCount == 1)
    }

    @Test func `Validators are removed and set again in place`() {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1), forKey: key)
        cache.amend(extendedData: nil, validators: .some(nil), forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: Data(bytes)))
        #expect(cache.validators(forKey: key) == nil && cache.details(forKey: key)?.validators == nil)
        amend(cache, 2)
        #expect(number(cache) == 2)
        let plain = CacheValidators(etag: "\"x\"", lastModified: nil, receivedHash: 9)
        cache.amend(extendedData: nil, validators: plain, forKey: key)
        #expect(cache.entry(forKey: key)?.validators == plain)
        #expect(cache.statistics.storeCount == 1 && cache.statistics.amendCount == 3)
    }

    @Test func `Metadata that does not fit is written with a new file, with more room`() throws {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1, extendedData: Data([5])), forKey: key)
        let path = cache.cachePath(forKey: key)
        let (before, inode) = (try #require(cache.entries().first), fileStatus(path).st_ino)
        clock.advance(100)
        amend(cache, 2, padding: 1000)
        #expect(fileStatus(path).st_ino != inode)
        let file = try #require(EntryFile(path: path))
        #expect(file.footer.slotSize > 1200 && file.content?.sequence == 1)
        let expected = StoredRecords.entry(bytes, 2, padding: 1000, extendedData: Data([5]))
        #expect(cache.entry(forKey: key) == expected)
        let after = try #require(cache.entries().first)
        #expect(after.created == before.created && after.modified == before.modified)
        #expect(after.validators == expected.validators && before.validators == StoredRecords.validators(1))
        amend(cache, 3, padding: 900)
        #expect(cache.statistics.storeCount == 2 && cache.statistics.amendCount == 1)
    }

    @Test func `Other extended data needs a new file`() {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1), forKey: key)
        cache.amend(extendedData: Data([3]), validators: StoredRecords.validators(2), forKey: key)
        #expect(cache.entry(forKey: key) == StoredRecords.entry(bytes, 2, extendedData: Data([3])))
        cache.setExtendedData(nil, forKey: key)
        #expect(cache.entry(forKey: key) == StoredRecords.entry(bytes, 2))
        #expect(cache.statistics.storeCount == 3 && cache.statistics.amendCount == 0)
    }

    @Test func `An entry without slots gets some with its first validators`() throws {
        let cache = make()
        cache.store(Data(bytes), forKey: key)
        let path = cache.cachePath(forKey: key)
        #expect(try #require(EntryFile(path: path)).footer.slotSize == 0)
        amend(cache, 1)
        #expect(try #require(EntryFile(path: path)).footer.slotSize == 512)
        amend(cache, 2)
        #expect(number(cache) == 2)
        #expect(cache.statistics.storeCount == 2 && cache.statistics.amendCount == 1)
    }

    @Test func `The last sequence number starts a new file`() throws {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1), forKey: key)
        let path = cache.cachePath(forKey: key)
        let file = try #require(EntryFile(path: path))
        let slots = try #require(file.footer.slots)
        for sequence in [UInt64.max - 1, .max] {
            var changed = file.bytes
            let lines = try #require(file.content?.bytes)
            let slot = try #require(slots.encoded(lines, sequence: sequence))
            changed.replaceSubrange(file.slot(0).prefix(slot.count), with: slot)
            writeBytes(changed, path)
            amend(cache, 5)
            #expect(number(cache) == 5)
            let expected = sequence == .max ? 1 : UInt64.max
            #expect(try #require(EntryFile(path: path)).content?.sequence == expected)
        }
    }

    @Test func `An amendment that another process' store overtakes has no effect`() {
        let other = make()
        other.store(StoredRecords.entry(bytes, 1), forKey: key)
        let newer = StoredRecords.entry([1, 2, 3], 7)
        var calls = FileCalls.system
        calls.writeAt = { file, bytes, count, offset in
            other.store(newer, forKey: "http://h/a.jpg")
            return FileCalls.system.writeAt(file, bytes, count, offset)
        }
        amend(make(calls), 2)
        #expect(other.entry(forKey: key) == newer && other.verify() == [])
    }

    @Test func `An entry of another key, a link, a FIFO and a directory are left unchanged`() {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1), forKey: "other")
        let (file, path) = (readBytes(cache.cachePath(forKey: "other")), cache.cachePath(forKey: key))
        writeBytes(file, path)
        amend(cache, 2)
        #expect(readBytes(path) == file)
        unlink(path)
        symlink(cache.cachePath(forKey: "other"), path)
        amend(cache, 2)
        unlink(path)
        mkfifo(path, 0o600)
        amend(cache, 2)
        unlink(path)
        mkdir(path, 0o700)
        amend(cache, 2)
        #expect(cache.validators(forKey: key) == nil && cache.details(forKey: key) == nil)
        #expect(readBytes(cache.cachePath(forKey: "other")) == file)
        #expect(cache.statistics.amendCount == 0 && cache.statistics.storeCount == 1)
    }

    @Test func `Validators of a response too long for slots are kept all the same`() throws {
        let cache = make()
        let lines = Data(("etag: \"1\"\nlater: " + String(repeating: "x", count: 60_000) + "\n").utf8)
        var trailer = EntryTrailer(key: key, created: 5)
        trailer.records = [.init(tag: EntryTrailer.Tag.response, bytes: lines)]
        let hash = bytes.withUnsafeBytes { Hashing.xxh3($0) }
        let tail = try #require(trailer.encoded(bodyLength: bytes.count, bodyHash: hash))
        writeBytes(bytes + tail, cache.cachePath(forKey: key))
        #expect(cache.entry(forKey: key)?.validators == CacheValidators(etag: "\"1\"", lastModified: nil))
        amend(cache, 2)
        #expect(number(cache) == 2 && cache.validators(forKey: key) == StoredRecords.validators(2))
        #expect(cache.statistics.amendCount == 0 && cache.statistics.storeCount == 1)
    }

    @Test(arguments: [0, 4000]) func `An amendment about other bytes leaves the entry unchanged`(padding: Int) {
        let cache = make()
        cache.store(StoredRecords.entry(bytes, 1), forKey: key)
        var about = StoredRecords.validators(2, padding: padding)
        about?.subject.value = 7
        cache.amend(extendedData: nil, validators: .some(about), forKey: key)
        #expect(number(cache) == 1)
        cache.amend(extendedData: .some(Data([9])), validators: .some(about), forKey: key)
        #expect(number(cache) == 1 && cache.entry(forKey: key)?.extendedData == Data([9]))
        about?.subject.value = Data(bytes).contentHash
        cache.amend(extendedData: nil, validators: .some(about), forKey: key)
        #expect(number(cache) == 2)
    }

    @Test func `If the stored bytes differ from the received ones, the received ones count`() {
        let cache = make()
        var entry = StoredRecords.entry(bytes, 1)
        entry.validators?.receivedHash = 5
        cache.store(entry, forKey: key)
        for subject in [Data(bytes).contentHash, 5] {
            var about = StoredRecords.validators(2)
            about?.subject.value = subject
            about?.receivedHash = 5
            cache.amend(extendedData: nil, validators: .some(about), forKey: key)
            #expect(cache.validators(forKey: key)?.etag == (subject == 5 ? "\"2\"" : "\"1\""))
        }
    }
}
